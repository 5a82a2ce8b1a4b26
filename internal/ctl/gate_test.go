package ctl

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestVictim(t *testing.T) {
	from := func(addrs ...string) []pending {
		var all []pending
		for _, a := range addrs {
			all = append(all, pending{from: source(&net.TCPAddr{IP: net.ParseIP(a)})})
		}
		return all
	}
	for _, c := range []struct {
		all  []pending
		want int
	}{
		{from("192.0.2.1"), 0},
		{from("192.0.2.1", "192.0.2.1"), 0},
		{from("192.0.2.1", "192.0.2.2", "192.0.2.2"), 1},
		{from("192.0.2.1", "192.0.2.2", "192.0.2.3"), 0},
		{from("192.0.2.1", "192.0.2.2", "192.0.2.1", "192.0.2.2"), 0},
		// One host's IPv6 addresses are one source; two networks are two.
		{from("2001:db8:1::1", "2001:db8::1", "2001:db8::2", "2001:db8:1::1", "2001:db8::3"), 1},
		{from("192.0.2.1", "2001:db8::1", "2001:db8::2"), 1},
	} {
		if got := victim(c.all); got != c.want {
			t.Errorf("%v: got %d, want %d", c.all, got, c.want)
		}
	}
	if got, want := source(&net.TCPAddr{IP: net.ParseIP("fe80::7"), Zone: "eth0"}), netip.MustParsePrefix("fe80::/64"); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// measure is what an honest client does: it holds a session and takes steps.
func measure(t *testing.T, way Transport) {
	t.Helper()
	c, err := Dial(t.Context(), "b", way, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := c.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 5 {
		if _, err := s.Prepare(t.Context(), testConfig()); err != nil {
			t.Fatal(err)
		}
		if err := s.Arm(t.Context(), netip.MustParseAddrPort("192.0.2.2:9")); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// descriptors counts this process's.
func descriptors(t *testing.T) int {
	t.Helper()
	all, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// Whatever 500 connections do that are no client's, a client comes in and
// takes its steps, and the agent does not keep a descriptor for each.
func TestFlood(t *testing.T) {
	for _, way := range []TCP{{Secret: mustSecret(t, secretA)}, {Insecure: true}} {
		mode := "secret"
		if way.Insecure {
			mode = "insecure"
		}
		for _, c := range []struct {
			name string
			say  string
		}{
			{"silence", ""},
			{"half a mark", "netdelta pl"},
			{"half a handshake", "\x16\x03\x01\x02\x00\x01\x00\x01"},
			{"garbage", "\x00\xff\x10garbage"},
			{"http", "GET / HTTP/1.1\r\n\r\n"},
			{"mark, then silence", markPlain},
			{"mark, then half a request", markPlain + "POST /x HTTP/1.1\r\nHost: a\r\n"},
		} {
			t.Run(mode+"/"+c.name, func(t *testing.T) {
				l, way, _ := listen(t, way)
				stop := serve(t, l, newFakeHost())
				before := descriptors(t)
				const knocks = 500
				open := make([]net.Conn, 0, knocks)
				defer func() {
					for _, c := range open {
						c.Close()
					}
					stop()
				}()
				for i := range knocks {
					conn, err := net.Dial("tcp", way.Addr)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := io.WriteString(conn, c.say); err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
						t.Fatal(err)
					}
					open = append(open, conn)
					if i%100 == 50 {
						measure(t, way)
					}
				}
				measure(t, way)
				// Ours, and what the agent holds of theirs.
				if n := descriptors(t) - before - knocks; n > maxPending+maxConns+16 {
					t.Errorf("the agent holds %d descriptors", n)
				}
			})
		}
	}
}

// Silence ends when its time is up, and the agent says so; at its end no
// connection is left.
func TestSilenceEnds(t *testing.T) {
	for _, say := range []string{"", "netdelta", "\x16\x03\x01\x02\x00"} {
		synctest.Test(t, func(t *testing.T) {
			secret := mustSecret(t, secretA)
			cfg, err := TCP{Secret: secret}.config(agentName, clientName)
			if err != nil {
				t.Fatal(err)
			}
			refused := make(refusals, 1)
			p := NewPipe()
			g := newGate(p, cfg, refused.note)
			conn, err := p.Dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if _, err := io.WriteString(conn, say); err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("got %v, want the end", err)
			}
			if d := time.Since(began); d != greetBound {
				t.Errorf("the connection ended after %v, want %v", d, greetBound)
			}
			if err := <-refused; !errors.Is(err, errSilent) {
				t.Errorf("got %v, want %v", err, errSilent)
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
			if len(g.pending) != 0 {
				t.Errorf("%d connections are left", len(g.pending))
			}
		})
	}
}

// A peer that sends a byte from time to time has no more time than another.
func TestTrickleEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPipe()
		refused := make(refusals, 1)
		g := newGate(p, nil, refused.note)
		defer g.Close()
		conn, err := p.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		began := time.Now()
		for _, b := range markPlain {
			if _, err := conn.Write([]byte{byte(b)}); err != nil {
				break
			}
			time.Sleep(greetBound * 2 / 5)
		}
		if err := <-refused; !errors.Is(err, errSilent) {
			t.Errorf("got %v, want %v", err, errSilent)
		}
		if d := time.Since(began); d > 2*greetBound {
			t.Errorf("it took %v", d)
		}
	})
}

// An agent that ends while connections are in every stage leaves none.
func TestGateCloses(t *testing.T) {
	for _, secret := range []bool{true, false} {
		way := TCP{Insecure: true}
		if secret {
			way = TCP{Secret: mustSecret(t, secretA)}
		}
		l, way, _ := listen(t, way)
		var conns []net.Conn
		for range 20 {
			c, err := net.Dial("tcp", way.Addr)
			if err != nil {
				t.Fatal(err)
			}
			conns = append(conns, c)
		}
		// Two that nobody accepts.
		var dials sync.WaitGroup
		for range 2 {
			dials.Go(func() {
				if c, err := way.Dial(context.Background()); err == nil {
					c.Close()
				}
			})
		}
		if secret {
			dials.Wait()
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		l.Close() // once more does no harm
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("accept after the end: got %v", err)
		}
		for _, c := range conns {
			c.SetReadDeadline(time.Now().Add(5 * time.Second))
			if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("a connection is still open")
			}
			c.Close()
		}
		dials.Wait()
	}
}

// stingy is a listener that runs out of descriptors after some connections,
// and some times.
type stingy struct {
	net.Listener
	after, fails int
}

func (s *stingy) Accept() (net.Conn, error) {
	s.after--
	if s.after < 0 && s.fails > 0 {
		s.fails--
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return s.Listener.Accept()
}

// When descriptors run out, those who have not proved anything give theirs up,
// and the agent goes on.
func TestNoDescriptorsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPipe()
		refused := make(refusals, 10)
		const many = 2
		s := &stingy{Listener: p, after: many, fails: 3}
		g := newGate(s, nil, refused.note)
		var idle []net.Conn
		for range many {
			c, err := p.Dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			idle = append(idle, c)
		}
		for _, c := range idle {
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("got %v, want the end", err)
			}
			if err := <-refused; !errors.Is(err, errEvicted) {
				t.Errorf("got %v, want %v", err, errEvicted)
			}
		}
		conn, err := plainly(p).Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		if s.fails != 0 {
			t.Errorf("%d failures are left", s.fails)
		}
	})
}

// plainOver introduces itself over another transport.
type plainOver struct{ Transport }

// plainly is the way of a client of an insecure agent over another transport.
func plainly(t Transport) plainOver { return plainOver{t} }

func (p plainOver) Dial(ctx context.Context) (net.Conn, error) {
	c, err := p.Transport.Dial(ctx)
	if err != nil {
		return nil, err
	}
	return present(ctx, c, nil, p.String())
}

// scripted is a connection whose peer has said all that it will.
type scripted struct {
	net.Conn // nil: not called
	in       *bytes.Reader
	out      bytes.Buffer
}

func (s *scripted) Read(p []byte) (int, error)       { return s.in.Read(p) }
func (s *scripted) Write(p []byte) (int, error)      { return s.out.Write(p) }
func (s *scripted) SetReadDeadline(time.Time) error  { return nil }
func (s *scripted) SetWriteDeadline(time.Time) error { return nil }
func (s *scripted) SetDeadline(time.Time) error      { return nil }
func (s *scripted) Close() error                     { return nil }
func (s *scripted) LocalAddr() net.Addr              { return pipeAddr{} }
func (s *scripted) RemoteAddr() net.Addr             { return pipeAddr{} }

// Whatever comes first on a connection, an agent lets in only who says what a
// client says, and what comes after that is left for HTTP.
func FuzzAdmit(f *testing.F) {
	for _, s := range []string{"", markPlain, markPlain + "GET", markSecret, "netdelta", "\x16\x03\x01\x00\x05hello", "\x16", "GET / HTTP/1.1\r\n\r\n"} {
		f.Add([]byte(s))
	}
	cfg, err := TCP{Secret: mustSecret(f, secretA)}.config(agentName, clientName)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		conn := &scripted{in: bytes.NewReader(in)}
		c, err := admit(conn, nil)
		if (err == nil) != strings.HasPrefix(string(in), markPlain) {
			t.Fatalf("insecure: %q: got %v", in, err)
		}
		if err == nil {
			rest, err := io.ReadAll(c)
			if err != nil || string(rest) != string(in[markSize:]) {
				t.Fatalf("%q: HTTP gets %q, error %v", in, rest, err)
			}
		}
		conn = &scripted{in: bytes.NewReader(in)}
		if _, err := admit(conn, cfg); err == nil {
			t.Fatalf("secured: %q was let in", in)
		}
	})
}

// Whatever answers a client, it takes only an agent for one, and has one line
// to say of the others.
func FuzzPresent(f *testing.F) {
	for _, s := range []string{"", markPlain, markSecret, markReady, "SSH-2.0-x\r\n", "\x15\x03\x01\x00\x02\x02\x28", "netdelta plain 3", "\x16\x03\x03\x00\x01\x02", "netdelta \n\n"} {
		f.Add([]byte(s))
	}
	cfg, err := TCP{Secret: mustSecret(f, secretA)}.config(clientName, agentName)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, secure := range []bool{false, true} {
			conf := cfg
			if !secure {
				conf = nil
			}
			_, err := present(t.Context(), &scripted{in: bytes.NewReader(in)}, conf, "h:1")
			if err == nil {
				if secure || string(in) != markPlain {
					t.Fatalf("%q is taken for an agent", in)
				}
				continue
			}
			if !errors.As(err, new(*dialError)) || strings.ContainsAny(err.Error(), "\r\n\x00\x1b") {
				t.Fatalf("%q: error %q", in, err)
			}
		}
	})
}
