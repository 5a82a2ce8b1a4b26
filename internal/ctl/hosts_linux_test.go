package ctl

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest"
	"netdelta/internal/labtest/veth"
	"netdelta/internal/netlab"
	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// within is a way to an agent that begins in a network namespace.
type within struct {
	TCP
	ns *sys.NetNS
}

func (w within) Dial(ctx context.Context) (c net.Conn, err error) {
	failed := w.ns.Do(func() error { c, err = w.TCP.Dial(ctx); return nil })
	if failed != nil {
		return nil, failed
	}
	return c, err
}

// hosts are two hosts with a link, an agent on b, and the way to it from a.
type hosts struct {
	lab  *netlab.Lab
	link *netlab.Link
	way  within
	fake *fakeHost
}

// twoHosts has peers that are silent for two seconds taken for dead.
func twoHosts(t *testing.T) *hosts {
	t.Helper()
	labtest.NoLeaks(t)
	lab, link := veth.Pair(t)
	way := TCP{Addr: netip.AddrPortFrom(link.AddrB(), DefaultPort).String(), Secret: mustSecret(t, secretA), Dead: 2 * time.Second}
	h := &hosts{lab: lab, link: link, way: within{way, lab.A.NS}, fake: newFakeHost()}
	var l net.Listener
	if err := lab.B.NS.Do(func() (err error) { l, err = way.Listen(nil); return err }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(serve(t, l, h.fake))
	return h
}

// cut takes host b's interface down, or up again: what was sent is lost, and
// neither end is told.
func (h *hosts) cut(t *testing.T, up bool) {
	t.Helper()
	err := h.lab.B.NS.Do(func() error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		ifr, err := unix.NewIfreq(h.lab.B.Device)
		if err != nil {
			return err
		}
		if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, ifr); err != nil {
			return err
		}
		flags := ifr.Uint16() &^ unix.IFF_UP
		if up {
			flags |= unix.IFF_UP
		}
		ifr.SetUint16(flags)
		return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A link that goes down ends the session at both ends, though nothing is sent
// on it, and frees the host; a client can come again when it is back.
func TestLinkCut(t *testing.T) {
	h := twoHosts(t)
	began := make(chan bool)
	h.fake.run = func(ctx context.Context) (*result.End, error) {
		close(began)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	c, err := Dial(t.Context(), "b", h.way, Options{Bound: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got, want := c.LocalAddr().Addr(), h.link.AddrA(); got != want {
		t.Errorf("the client is at %v, want %v", got, want)
	}
	s, err := c.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() { _, err := s.Run(t.Context()); failed <- err }()
	<-began
	h.cut(t, false)
	at := time.Now()
	err = <-failed
	if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "has died") {
		t.Errorf("client: got %v, want %v", err, ErrUnreachable)
	}
	if why := <-h.fake.ended; why == nil {
		t.Error("agent: the session ended without a reason")
	}
	if d := time.Since(at); d > 3*h.way.Dead {
		t.Errorf("it took %v", d)
	}
	<-s.Done()

	h.cut(t, true)
	again, err := Dial(t.Context(), "b", h.way, Options{Bound: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

// A link that is back in time costs nothing.
func TestLinkFlaps(t *testing.T) {
	h := twoHosts(t)
	c, err := Dial(t.Context(), "b", h.way, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := c.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	h.cut(t, false)
	h.cut(t, true)
	if err := s.Abort(t.Context()); err != nil {
		t.Error(err)
	}
}

// There is no route, or nobody at the address: each has its own words, and an
// end.
func TestNoWay(t *testing.T) {
	h := twoHosts(t)
	for _, c := range []struct {
		addr, want string
	}{
		{"203.0.113.1", "no way to 203.0.113.1:7117 (network is unreachable)"},
		{h.link.AddrB().String() + ":9", "nothing listens at"},
	} {
		way := h.way
		way.Addr = c.addr
		_, err := Dial(t.Context(), "b", way, Options{Bound: time.Minute})
		if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.addr, err, c.want)
		}
	}
	way := h.way
	way.Addr = "192.0.2.200" // on the link, but nobody's
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := Dial(ctx, "b", way, Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
}

// Both ends' sockets are set so that a dead peer is noticed.
func TestSocketOptions(t *testing.T) {
	l, way, _ := listen(t, TCP{Secret: mustSecret(t, secretA), Dead: 16 * time.Second})
	defer l.Close()
	dialled := make(chan net.Conn, 1)
	go func() {
		c, err := way.Dial(context.Background())
		if err != nil {
			t.Error(err)
		}
		dialled <- c
	}()
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	own := <-dialled
	if own == nil {
		return
	}
	defer own.Close()
	for name, c := range map[string]net.Conn{"client": own, "agent": accepted} {
		for _, o := range []struct {
			name              string
			level, opt, value int
		}{
			{"TCP_USER_TIMEOUT", unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 16000},
			{"SO_KEEPALIVE", unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
			{"TCP_KEEPIDLE", unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 8},
			{"TCP_KEEPINTVL", unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 2},
			{"TCP_KEEPCNT", unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 4},
			{"TCP_NODELAY", unix.IPPROTO_TCP, unix.TCP_NODELAY, 1},
		} {
			if got := option(t, c, o.level, o.opt); got != o.value {
				t.Errorf("%s: %s is %d, want %d", name, o.name, got, o.value)
			}
		}
	}
}

func option(t *testing.T, c net.Conn, level, opt int) int {
	t.Helper()
	raw, err := tcpOf(c.(*tcpConn).Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var value int
	if failed := raw.Control(func(fd uintptr) { value, err = unix.GetsockoptInt(int(fd), level, opt) }); failed != nil {
		t.Fatal(failed)
	}
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// A link that is down within a window, for longer than a peer may be silent
// at other times, does not cost the session: the trial goes on.
func TestLinkDownWithinWindow(t *testing.T) {
	h := twoHosts(t)
	window := 2 * h.way.Dead
	began, over := make(chan bool), make(chan bool)
	h.fake.run = func(ctx context.Context) (*result.End, error) {
		close(began)
		select {
		case <-over:
			return testEnd(), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	c, err := Dial(t.Context(), "b", h.way, Options{Bound: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := c.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	cfg := testConfig()
	cfg.Window = window
	if _, err := s.Prepare(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { _, err := s.Run(t.Context()); ran <- err }()
	<-began
	h.cut(t, false)
	select {
	case <-time.After(3 * h.way.Dead / 2):
	case err := <-ran:
		t.Fatalf("the link's being down ended the trial: %v", err)
	}
	h.cut(t, true)
	close(over)
	if err := <-ran; err != nil {
		t.Error(err)
	}
	if err := s.Abort(t.Context()); err != nil {
		t.Errorf("the session: %v", err)
	}
}

// A trial lengthens the time for which a peer may be silent, up to a limit,
// and never shortens it.
func TestExpect(t *testing.T) {
	l, way, _ := listen(t, TCP{Insecure: true, Dead: 2 * time.Second})
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			defer c.Close()
			<-t.Context().Done()
		}
	}()
	conn, err := way.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var p pool
	p.add(conn)
	for _, c := range []struct{ length, want time.Duration }{
		{0, 2 * time.Second},
		{time.Second, 3 * time.Second},
		{500 * time.Millisecond, 3 * time.Second},
		{7 * time.Second, 9 * time.Second},
		{time.Hour, 10 * time.Second},
	} {
		p.expect(c.length)
		if got := option(t, conn, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT); got != int(c.want.Milliseconds()) {
			t.Errorf("with a trial of %v: %d ms, want %v", c.length, got, c.want)
		}
	}
	// What is added later is told too; what has left is not.
	p.remove(conn)
	if len(p.conns) != 0 {
		t.Error("the connection is still in the pool")
	}
	p.add(conn)
	p.add(pipeConn{})
	p.expect(time.Minute)
}

type pipeConn struct{ net.Conn }
