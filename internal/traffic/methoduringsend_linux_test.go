package traffic

import (
	"fmt"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// TestURingSendsWhatIsAskedFor: messages whose number is given are not handed
// over ahead.
func TestURingSendsWhatIsAskedFor(t *testing.T) {
	needURing(t)
	for _, p := range []spec.Params{{Size: 1000, Count: 5}, {Size: 300 << 10, Count: 5}, {Size: 1000, Rate: 500}} {
		p.Send = "uring"
		m, _, err := connected(t, loopbacks["ipv4"], spec.Test{Name: "tcp_stream", Params: p})
		if err != nil {
			t.Fatal(err)
		}
		sender := m.(*uringStream)
		sent := 0
		for sent < p.Size {
			n, errno := sender.send(p.Size - sent)
			if errno != 0 && errno != unix.EAGAIN {
				t.Fatal(errno)
			}
			sent += n
			if sender.bytes > int64(p.Size) {
				t.Fatalf("%+v: %d bytes went for a message", p, sender.bytes)
			}
		}
		if sender.bytes != int64(p.Size) || sender.sending != 0 {
			t.Errorf("%+v: %d bytes went, %d sends are under way", p, sender.bytes, sender.sending)
		}
		if want := int64(1 + p.Size/(maxWrite+1)); sender.calls > want && p.Size < 64<<10 {
			t.Errorf("%+v: %d calls, want %d", p, sender.calls, want)
		}
	}
}

// connected is a sender of a TCP stream, whose peer nobody reads from.
func connected(t *testing.T, addr netip.Addr, test spec.Test) (m streamSender, peer *socket, err error) {
	t.Helper()
	cfg := Config{Role: result.Local, Test: test, Window: time.Second, CPU: -1, Addr: addr}
	if err := cfg.check(); err != nil {
		return nil, nil, err
	}
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	listener, port, err := listenTCPAt(cfg)
	if err != nil {
		return nil, nil, err
	}
	t.Cleanup(func() { listener.close() })
	s, _, err := openTCP(cfg)
	if err != nil {
		return nil, nil, err
	}
	t.Cleanup(func() { s.close() })
	if err := s.dial(netip.AddrPortFrom(addr, port), connectTime); err != nil {
		return nil, nil, err
	}
	fd, _, err := unix.Accept4(int(listener.Sock), unix.SOCK_CLOEXEC)
	if err != nil {
		return nil, nil, err
	}
	peer = &socket{Sock: sys.Sock(fd), what: "TCP socket"}
	t.Cleanup(func() { peer.close() })
	row, err := sendMethodOf(cfg)
	if err != nil {
		return nil, nil, err
	}
	m, err = row.stream(s, cfg)
	if err != nil {
		return nil, nil, err
	}
	t.Cleanup(func() {
		if err := m.close(); err != nil {
			t.Error(err)
		}
	})
	return m, peer, nil
}

// TestURingBytesAreConserved has a peer that reads nothing for a while, so that
// sends are under way when send returns, and then everything: what came is what
// send returned, and what the kernel took besides until it gave the rest back.
func TestURingBytesAreConserved(t *testing.T) {
	needURing(t)
	for _, name := range []string{"uring", "uring-zc"} {
		for _, size := range []int{1000, 5 << 20} {
			t.Run(fmt.Sprint(name, size), func(t *testing.T) {
				eachFamily(t, func(t *testing.T, addr netip.Addr) {
					m, peer, err := connected(t, addr, spec.Test{Name: "tcp_stream", Params: spec.Params{Size: size, Send: name, SndBuf: 64 << 10}})
					if err != nil {
						t.Fatal(err)
					}
					sender := stream(m)
					var sent, received int64
					left, waits := size, 0
					step := func() {
						began := time.Now()
						n, errno := m.send(left)
						if errno != 0 && errno != unix.EAGAIN {
							t.Fatal(errno)
						}
						if errno == unix.EAGAIN {
							waits++
						}
						if took := time.Since(began); took > pollTime+time.Second {
							t.Errorf("send took %v", took)
						}
						if n > left {
							t.Fatalf("%d bytes were sent of %d", n, left)
						}
						sent += int64(n)
						if left -= n; left == 0 {
							left = size
						}
					}
					buffer := make([]byte, 1<<20)
					read := func(flags int) bool {
						n, errno := peer.Recv(buffer, flags)
						if errno != 0 && errno != unix.EAGAIN && errno != unix.EINTR {
							t.Fatal(errno)
						}
						received += int64(max(n, 0))
						return errno == unix.EINTR || errno == 0 && n > 0
					}
					for waits == 0 {
						step()
					}
					for range 20 {
						read(unix.MSG_DONTWAIT)
						step()
						// What the kernel took ahead is told when a send ends.
						if over := received - sender.bytes; over > maxWrite {
							t.Fatalf("%d bytes came, %d were sent", received, sender.bytes)
						}
					}
					if err := m.finish(10 * time.Millisecond); err != nil {
						t.Fatal(err)
					}
					if err := unix.Shutdown(sender.fd, unix.SHUT_WR); err != nil {
						t.Fatal(err)
					}
					for read(0) {
					}
					if name == "uring-zc" && (sender.completed == 0 || sender.completed != sender.copied) {
						t.Errorf("%d sends without copying, of which %d were copied over loopback", sender.completed, sender.copied)
					}
					if sent > sender.bytes || received != sender.bytes {
						t.Errorf("send returned %d bytes, the kernel took %d, %d came", sent, sender.bytes, received)
					}
				})
			})
		}
	}
}

func stream(m streamSender) *uringSender { return &m.(*uringStream).uringSender }

// TestURingDatagramsWaitForRoom fills a pair of sockets that nobody reads: the
// batch that does not fit is cut off after pollTime, to the datagram.
func TestURingDatagramsWaitForRoom(t *testing.T) {
	needURing(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fds[0])
	defer unix.Close(fds[1])
	cfg := Config{Role: result.Local, Test: spec.Test{Name: "udp_stream", Params: spec.Params{Size: 8, Send: "uring"}},
		Window: time.Second, CPU: -1, Addr: loopbacks["ipv4"]}
	if err := cfg.check(); err != nil {
		t.Fatal(err)
	}
	m, err := newURingDatagram(&socket{Sock: sys.Sock(fds[0]), what: "socket pair"}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	sent, received := uint64(0), uint64(0)
	for range 3 {
		for errno := unix.Errno(0); errno == 0; {
			batch := m.batch()
			for i, d := range batch {
				putSequence(d, sent+uint64(i))
			}
			var n int
			began := time.Now()
			n, errno = m.send(len(batch))
			if took := time.Since(began); took > 2*pollTime+time.Second {
				t.Errorf("send took %v", took)
			}
			if errno != 0 && errno != unix.EAGAIN {
				t.Fatal(errno)
			}
			sent += uint64(n)
		}
		var got [8]byte
		for {
			if _, _, err := unix.Recvfrom(fds[1], got[:], unix.MSG_DONTWAIT); err != nil {
				break
			}
			if seq := getSequence(got[:]); seq != received {
				t.Fatalf("datagram %d came, want %d", seq, received)
			}
			received++
		}
		if sent != received || sent == 0 {
			t.Fatalf("%d were sent, %d came", sent, received)
		}
	}
	if err := m.finish(time.Second); err != nil {
		t.Error(err)
	}
}
