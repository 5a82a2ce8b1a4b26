package traffic

import (
	"bytes"
	"math/rand"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// streamPair makes the two ends of a TCP connection as a sender and a receiver
// have them, and the configuration of the sender.
func streamPair(t *testing.T, addr netip.Addr, p spec.Params) (cfg Config, from, to *socket) {
	t.Helper()
	cfg = Config{Role: result.Local, Test: spec.Test{Name: "tcp_stream", Params: p}, Window: testWindow, CPU: -1, Addr: addr}
	if err := cfg.check(); err != nil {
		t.Fatal(err)
	}
	listener, port, err := listenTCPAt(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.close()
	from, own, err := openTCP(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { from.close() })
	if err := from.dial(netip.AddrPortFrom(addr, port), connectTime); err != nil {
		t.Fatal(err)
	}
	to, err = listener.accept(netip.AddrPortFrom(addr, own), func() bool { return false }, pollTime)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { to.close() })
	return cfg, from, to
}

// newSender makes the method that the configuration asks for.
func newSender(t *testing.T, cfg Config, s *socket) streamSender {
	t.Helper()
	row, err := sendMethodOf(cfg)
	if err != nil {
		t.Fatal(err)
	}
	m, err := row.stream(s, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// sendAll sends so many messages and returns how many bytes each call sent.
func sendAll(t *testing.T, m streamSender, s *socket, messages, size int) (calls []int) {
	t.Helper()
	for range messages {
		for left := size; left > 0; {
			n, errno := m.send(left)
			switch {
			case errno == unix.EAGAIN || errno == unix.EINTR:
			case errno != 0:
				t.Fatal(s.failed("send on", errno))
			case n < 1 || n > left:
				t.Fatalf("sent %d of %d bytes", n, left)
			default:
				calls = append(calls, n)
				left -= n
			}
		}
	}
	return calls
}

// receiveAll reads a connection to its end, on another thread.
func receiveAll(s *socket) <-chan []byte {
	all := make(chan []byte, 1)
	go func() {
		var got bytes.Buffer
		buf := make([]byte, 64<<10)
		for {
			n, err := unix.Read(int(s.Sock), buf)
			if err == unix.EAGAIN || err == unix.EINTR {
				continue
			}
			if err != nil || n == 0 {
				all <- got.Bytes()
				return
			}
			got.Write(buf[:n])
		}
	}()
	return all
}

// TestSendMethodsSendWhatTheyShould compares what a plain receiver gets with
// the file, or with the memory that each call sends from its beginning.
func TestSendMethodsSendWhatTheyShould(t *testing.T) {
	content := make([]byte, 300_001) // no multiple of a page
	rand.New(rand.NewSource(1)).Read(content)
	path := filepath.Join(t.TempDir(), "content")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, method := range append([]string{"write"}, sendTCP...) {
		for _, size := range []int{1, 3, 70_001, 5 << 19} {
			t.Run(method, func(t *testing.T) {
				eachFamily(t, func(t *testing.T, addr netip.Addr) {
					const messages = 3
					p := spec.Params{Size: size, Send: method}
					needMethod(t, p)
					isFile := spec.Test{Name: "tcp_stream", Params: p}.SendMethod().File
					if isFile {
						p.File = path
					}
					cfg, from, to := streamPair(t, addr, p)
					m := newSender(t, cfg, from)
					all := receiveAll(to)
					calls := sendAll(t, m, from, messages, size)
					if err := m.finish(finishTime); err != nil {
						t.Error(err)
					}
					from.shutdown(unix.SHUT_WR)
					got := <-all
					var want []byte
					for _, n := range calls {
						if isFile {
							for n > 0 {
								part := content[len(want)%len(content):]
								part = part[:min(n, len(part))]
								want, n = append(want, part...), n-len(part)
							}
						} else {
							want = append(want, makeBuffers(1, n)[0]...)
						}
					}
					if len(got) != messages*size || !bytes.Equal(got, want) {
						t.Errorf("%d bytes came of %d, the first that is wrong is %d", len(got), messages*size, differ(got, want))
					}
					s := m.stats()
					if s.calls < int64(len(calls)) {
						t.Errorf("%d system calls are counted, %d were made at least", s.calls, len(calls))
					}
					if zero := method == "zerocopy"; zero && (s.completed != int64(len(calls)) || s.copied != s.completed) {
						t.Errorf("%d sends, all copied on loopback: %d completed, %d copied", len(calls), s.completed, s.copied)
					}
				})
			})
		}
	}
}

func differ(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// TestFileOver2GiB begins near the end of a sparse file, and goes on at its
// beginning.
func TestFileOver2GiB(t *testing.T) {
	const size, tail = 5 << 30, 70_001
	content := make([]byte, 2*tail)
	rand.New(rand.NewSource(2)).Read(content)
	path := filepath.Join(t.TempDir(), "sparse")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err1 := f.WriteAt(content[:tail], size-tail)
	_, err2 := f.WriteAt(content[tail:], 0)
	if err1 != nil || err2 != nil || f.Close() != nil {
		t.Fatal(err1, err2)
	}
	for _, method := range fileMethods {
		t.Run(method, func(t *testing.T) {
			cfg, from, to := streamPair(t, loopbacks["ipv4"], spec.Params{Size: 10_000, Send: method, File: path})
			m := newSender(t, cfg, from)
			m.(interface{ payloadOf() *payload }).payloadOf().offset = size - tail
			all := receiveAll(to)
			sendAll(t, m, from, 2*tail/10_000, 10_000)
			from.shutdown(unix.SHUT_WR)
			if got, want := <-all, content[:2*tail/10_000*10_000]; !bytes.Equal(got, want) {
				t.Errorf("%d bytes came of %d, the first that is wrong is %d", len(got), len(want), differ(got, want))
			}
		})
	}
}

func (p *payload) payloadOf() *payload { return p }

// TestReceiveMethodsLoseNothing counts bytes to the end of the stream.
func TestReceiveMethodsLoseNothing(t *testing.T) {
	for _, method := range append([]string{"recv"}, recvTCP...) {
		for _, send := range []string{"write", "sendfile", "zerocopy"} {
			t.Run(method+" of "+send, func(t *testing.T) {
				eachFamily(t, func(t *testing.T, addr netip.Addr) {
					const messages, size = 20, 100_001
					p := spec.Params{Size: size, Recv: method, Send: send}
					needMethod(t, p)
					cfg, from, to := streamPair(t, addr, p)
					row, err := recvMethodOf(cfg)
					if err != nil {
						t.Fatal(err)
					}
					m, err := row.stream(to, cfg)
					if err != nil {
						t.Fatal(err)
					}
					defer m.close()
					type outcome struct {
						n   int
						err error
					}
					done := make(chan outcome, 1)
					go func() {
						var o outcome
						for {
							n, errno := m.receive()
							if errno != 0 && errno != unix.EAGAIN && errno != unix.EINTR {
								o.err = errno
							}
							if o.n += max(n, 0); n == 0 && errno == 0 || o.err != nil {
								done <- o
								return
							}
						}
					}()
					sender := newSender(t, cfg, from)
					sendAll(t, sender, from, messages, size)
					from.shutdown(unix.SHUT_WR)
					if o := <-done; o.n != messages*size || o.err != nil {
						t.Errorf("%d bytes of %d came, %v", o.n, messages*size, o.err)
					}
					if s := m.stats(); method == "zerocopy" && (s.received != messages*size || s.mapped > s.received) {
						t.Errorf("%d bytes received, of which %d mapped", s.received, s.mapped)
					}
				})
			})
		}
	}
}
