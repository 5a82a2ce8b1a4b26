package ctl

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var (
	secretA = "7xk2m9qp4tzw8vbn3hcd6fgj5rsy0ea1"
	secretB = "0ea17xk2m9qp4tzw8vbn3hcd6fgj5rsy"
)

// refusals collects what a listener tells of those whom it did not let in.
type refusals chan error

func (r refusals) note(_ net.Addr, why error) { r <- why }

// listen opens a port of this host's loopback.
func listen(t *testing.T, way TCP) (net.Listener, TCP, refusals) {
	t.Helper()
	refused := make(refusals, 1000)
	l, err := TCP{Addr: "127.0.0.1:0", Secret: way.Secret, Insecure: way.Insecure, Dead: way.Dead}.listenAny(refused.note)
	if err != nil {
		t.Fatal(err)
	}
	way.Addr = l.Addr().String()
	return l, way, refused
}

// listenAny is Listen at a port of the kernel's choice.
func (t TCP) listenAny(refused func(net.Addr, error)) (net.Listener, error) {
	cfg, err := t.config(agentName, clientName)
	if err != nil {
		return nil, err
	}
	lc := net.ListenConfig{KeepAliveConfig: t.keepAlive(), Control: t.option}
	l, err := lc.Listen(context.Background(), "tcp", t.Addr)
	if err != nil {
		return nil, err
	}
	return tcpListener{newGate(l, cfg, refused), t.dead()}, nil
}

// Both ends agree, or both are told what is amiss, in one line each.
func TestWhoIsLetIn(t *testing.T) {
	a, b := mustSecret(t, secretA), mustSecret(t, secretB)
	for _, c := range []struct {
		name          string
		agent, client TCP
		kind          error  // the client's
		text          string // in the client's error
		refused       error  // the agent's
	}{
		{name: "one secret", agent: TCP{Secret: a}, client: TCP{Secret: a}},
		{name: "insecure", agent: TCP{Insecure: true}, client: TCP{Insecure: true}},
		{"two secrets", TCP{Secret: a}, TCP{Secret: b}, ErrSecret, "has another secret than this end", ErrSecret},
		{"insecure client", TCP{Secret: a}, TCP{Insecure: true}, ErrSecretWanted, "asks for a secret: give its secret here", errNoTLS},
		{"insecure agent", TCP{Insecure: true}, TCP{Secret: a}, ErrInsecureAgent, "runs --insecure, but this end has a secret", errUnasked},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, way, refused := listen(t, c.agent)
			f := newFakeHost()
			defer serve(t, l, f)()
			c.client.Addr = way.Addr
			client, err := Dial(t.Context(), "b", c.client, Options{})
			if c.kind == nil {
				if err != nil {
					t.Fatal(err)
				}
				defer client.Close()
				if want := netip.MustParseAddrPort(way.Addr); client.RemoteAddr() != want || client.LocalAddr().Addr() != want.Addr() || client.LocalAddr().Port() == 0 {
					t.Errorf("the connection is from %v to %v, want one to %v", client.LocalAddr(), client.RemoteAddr(), want)
				}
				return
			}
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "\n") {
				t.Errorf("client: got %v, want %v with %q", err, c.kind, c.text)
			}
			if err := <-refused; !errors.Is(err, c.refused) {
				t.Errorf("agent: got %v, want %v", err, c.refused)
			}
		})
	}
}

// A client of ours whose key is another one's is let in by nobody, although
// it has the agent's.
func TestOnlyTheAgentsKey(t *testing.T) {
	secret := mustSecret(t, secretA)
	l, way, refused := listen(t, TCP{Secret: secret})
	defer serve(t, l, newFakeHost())()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	own, err := certificate(key, clientName)
	if err != nil {
		t.Fatal(err)
	}
	for name, certs := range map[string][]tls.Certificate{"another": {own}, "none": nil} {
		cfg, err := way.config(clientName, agentName)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Certificates = certs
		raw, err := net.Dial("tcp", way.Addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := present(t.Context(), raw, cfg, way.Addr); !errors.Is(err, ErrSecret) {
			t.Errorf("%s: got %v, want %v", name, err, ErrSecret)
		}
		raw.Close()
		if err := <-refused; err == nil {
			t.Errorf("%s: the agent let it in", name)
		}
	}
}

func TestOnlyTLS13(t *testing.T) {
	l, way, refused := listen(t, TCP{Secret: mustSecret(t, secretA)})
	defer serve(t, l, newFakeHost())()
	cfg, err := way.config(clientName, agentName)
	if err != nil {
		t.Fatal(err)
	}
	cfg.MinVersion, cfg.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	if c, err := tls.Dial("tcp", way.Addr, cfg); err == nil {
		c.Close()
		t.Error("TLS 1.2 was accepted")
	}
	<-refused
}

// Derived keys are the same wherever they are derived, and differ by end and
// by secret.
func TestKeys(t *testing.T) {
	seen := map[string]string{}
	for _, text := range []string{secretA, secretB} {
		for _, name := range []string{agentName, clientName} {
			k, err := keyPair(mustSecret(t, text), name)
			if err != nil {
				t.Fatal(err)
			}
			again, err := keyPair(mustSecret(t, strings.ToUpper(text)), name)
			if err != nil || !k.Equal(again) {
				t.Errorf("%s of %s: two keys of one secret, error %v", name, text, err)
			}
			if other, ok := seen[string(k)]; ok {
				t.Errorf("%s of %s has the key of %s", name, text, other)
			}
			seen[string(k)] = name + " of " + text
		}
	}
	// What one release derives, the next must too.
	k, err := keyPair(mustSecret(t, secretA), agentName)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%x", k.Public().(ed25519.PublicKey)); got != goldenKey {
		t.Errorf("the agent's public key is %s, want %s", got, goldenKey)
	}
}

const goldenKey = "2fc756209be721e3d1fe8f393cb8664b7ba119ccfc7fad8f0757df0b1c81bcf6"

func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	_, err = Dial(t.Context(), "b", TCP{Addr: addr, Insecure: true}, Options{})
	if !errors.Is(err, ErrRefused) || !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "nothing listens at "+addr) {
		t.Errorf("got %v, want %v", err, ErrRefused)
	}
}

// Every way in which a connection does not come about has its words.
func TestUnconnected(t *testing.T) {
	errno := func(e syscall.Errno) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", e)}
	}
	for _, c := range []struct {
		err  error
		kind error
		want string
	}{
		{&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "bench9"}}, ErrUnreachable, "the name bench9 cannot be resolved: no such host"},
		{errno(syscall.ECONNREFUSED), ErrRefused, "nothing listens at h:1"},
		{errno(syscall.EHOSTUNREACH), ErrUnreachable, "no way to h:1 (no route to host)"},
		{errno(syscall.ETIMEDOUT), ErrUnreachable, "h:1 does not answer"},
		{&net.OpError{Op: "dial", Err: context.DeadlineExceeded}, ErrUnreachable, "h:1 does not answer"},
		{errno(syscall.EMFILE), ErrUnreachable, "no connection to h:1: too many open files"},
	} {
		err := unconnected(t.Context(), c.err, "h:1")
		if !errors.Is(err, c.kind) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %v with %q", c.err, err, c.kind, c.want)
		}
	}
}

// What cannot work is refused before anything is tried.
func TestCheck(t *testing.T) {
	secret := mustSecret(t, secretA)
	for _, c := range []struct {
		way  TCP
		want string
	}{
		{TCP{Addr: "h:x", Secret: secret}, "port \"x\""},
		{TCP{Addr: ":7117", Secret: secret}, "names no host"},
		{TCP{Addr: "h"}, "no secret for h:7117: give one"},
		{TCP{Addr: "h", Secret: secret, Insecure: true}, "exclude each other"},
	} {
		_, err := Dial(t.Context(), "b", c.way, Options{})
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %v with %q", c.way, err, ErrInvalid, c.want)
		}
		if _, err := c.way.Dial(t.Context()); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: dial: got %v, want %v", c.way, err, ErrInvalid)
		}
	}
}

func TestPortTaken(t *testing.T) {
	l, way, _ := listen(t, TCP{Insecure: true})
	defer l.Close()
	_, err := way.Listen(nil)
	if !errors.Is(err, ErrPort) || !strings.Contains(err.Error(), "another agent or another program") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want %v with advice", err, ErrPort)
	}
	way.Addr = "192.0.2.77:7117"
	if _, err := way.Listen(nil); !errors.Is(err, ErrPort) || !strings.Contains(err.Error(), "no interface here has that address") {
		t.Errorf("got %v, want %v with advice", err, ErrPort)
	}
}

func TestCancelledDial(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // nobody answers
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, way := range []TCP{{Secret: mustSecret(t, secretA)}, {Insecure: true}} {
		way.Addr = l.Addr().String()
		why := errors.New("not wanted any more")
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			c.Read(make([]byte, 1))
			cancel(why)
			io.Copy(io.Discard, c)
		}()
		began := time.Now()
		if _, err := way.Dial(ctx); !errors.Is(err, why) {
			t.Errorf("got %v, want %v", err, why)
		}
		if d := time.Since(began); d > greetBound/2 {
			t.Errorf("it took %v", d)
		}
	}
}

// stuck is a transport that waits until it is told to give up.
type stuck struct {
	Transport
	after   int // connections that come about
	waiting chan bool
	mu      sync.Mutex
}

func (s *stuck) Dial(ctx context.Context) (net.Conn, error) {
	s.mu.Lock()
	s.after--
	stuck := s.after < 0
	s.mu.Unlock()
	if !stuck {
		return s.Transport.Dial(ctx)
	}
	close(s.waiting)
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// A client that closes leaves no connection that is being made.
func TestCloseEndsDials(t *testing.T) {
	p := NewPipe()
	defer serve(t, p, newFakeHost())()
	way := &stuck{Transport: p, after: 1, waiting: make(chan bool)}
	c, err := Dial(t.Context(), "b", way, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var calls sync.WaitGroup
	for range 2 { // one has the connection that there is
		calls.Go(func() {
			for c.alive.Err() == nil {
				c.Environment(t.Context())
			}
		})
	}
	<-way.waiting
	c.Close()
	calls.Wait()
	c.Close()
	if _, err := c.Environment(t.Context()); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "the client was closed") {
		t.Errorf("a call after the end: got %v", err)
	}
}
