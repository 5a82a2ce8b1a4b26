package ctl

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"netdelta/internal/traffic"
	"netdelta/proto/controlv1/controlv1connect"
)

// A request that does not come to its end is given up when its time is up,
// be it in the header or in the body, and nothing is called.
func TestSlowRequests(t *testing.T) {
	const head = "POST " + controlv1connect.HostArmProcedure + " HTTP/1.1\r\nHost: agent\r\n" +
		"Content-Type: application/proto\r\nConnect-Protocol-Version: 1\r\n"
	for _, c := range []struct {
		name, say string
		bound     time.Duration
	}{
		{"nothing", "", headerBound},
		{"header", head, headerBound},
		{"body", head + "Content-Length: 100\r\n\r\nabc", bodyBound},
		{"chunks", head + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", bodyBound},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeHost()
				f.arm = func(context.Context, netip.AddrPort) error {
					t.Error("half a request reached the host")
					return nil
				}
				p := NewPipe()
				defer serve(t, p, f)()
				conn, err := p.Dial(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				began := time.Now()
				if _, err := io.WriteString(conn, c.say); err != nil {
					t.Fatal(err)
				}
				// What the server says last does not matter.
				if _, err := io.Copy(io.Discard, conn); err != nil {
					t.Errorf("got %v, want the end", err)
				}
				// A second more is net/http's, which lets a client read an
				// error before it closes.
				if d := time.Since(began); d < c.bound || d > c.bound+time.Second {
					t.Errorf("the connection ended after %v, want %v", d, c.bound)
				}
			})
		})
	}
}

// A step may last for as long as it likes once its request is there.
func TestLongStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeHost()
		f.prepare = func(ctx context.Context, _ traffic.Config) (uint16, error) {
			select {
			case <-time.After(10 * bodyBound):
				return 7, nil
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
		s, end := hold(t, f, Options{Bound: time.Hour})
		defer end()
		if port, err := s.Prepare(t.Context(), testConfig()); err != nil || port != 7 {
			t.Errorf("got port %d, error %v", port, err)
		}
	})
}

// More connections than a server takes cost one that rests, never one with a
// call under way.
func TestRestingConnectionsMakeRoom(t *testing.T) {
	f := newFakeHost()
	p := NewPipe()
	defer serve(t, p, f)()
	c, err := Dial(t.Context(), "b", p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := c.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	conns := make([]net.Conn, 2*maxConns)
	for i := range conns {
		if conns[i], err = p.Dial(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer conns[i].Close()
	}
	// The first were given up, in order, but for the time that the server
	// takes to see the last.
	for i := range maxConns {
		if _, err := conns[i].Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Fatalf("connection %d: got %v, want the end", i, err)
		}
	}
	if err := s.Abort(t.Context()); err != nil {
		t.Errorf("the session: %v", err)
	}
	select {
	case <-s.Done():
		t.Error("the session has ended")
	default:
	}
}

// What a call says last still reaches its client when the server ends.
func TestLastWords(t *testing.T) {
	p := NewPipe()
	ctx, cancel := context.WithCancel(t.Context())
	began := make(chan bool)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
		io.WriteString(w, strings.Repeat("farewell ", 1000))
	})
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, p, h) }()
	conn, err := p.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-began
	cancel()
	all, err := io.ReadAll(conn)
	if err != nil || len(all) < 9000 || !strings.HasSuffix(string(all), "\r\n0\r\n\r\n") { // the last chunk
		t.Errorf("got %d bytes, error %v", len(all), err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
