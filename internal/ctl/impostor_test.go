package ctl

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// impostors are what may own the port instead of an agent.
var impostors = []struct {
	name   string
	serve  func(net.Conn)
	secure string // part of the error for a client with a secret
	plain  string // and for one without
	kind   error
}{
	{"ssh", func(c net.Conn) { io.WriteString(c, "SSH-2.0-OpenSSH_9.2\r\n"); io.Copy(io.Discard, c) },
		`another service ("SSH-2.0-OpenSSH_9.2")`, `another service ("SSH-2.0-OpenSSH_9.2")`, ErrNotAgent},
	{"short banner", func(c net.Conn) { io.WriteString(c, "220\r\n"); io.Copy(io.Discard, c) },
		`another service ("220")`, `another service ("220")`, ErrNotAgent},
	{"http", serveHTTP, `another service ("HTTP/1.1 400 Bad Request")`, `another service ("HTTP/1.1 400 Bad Request")`, ErrNotAgent},
	{"https", serveTLS(&tls.Config{}), "another TLS service", "closed the connection before", ErrNotAgent},
	{"old TLS", serveTLS(&tls.Config{MaxVersion: tls.VersionTLS12}), "another TLS service", "closed the connection before", ErrNotAgent},
	{"other protocol in TLS", serveTLS(&tls.Config{NextProtos: []string{"imap"}}), "another TLS service", "closed the connection before", ErrNotAgent},
	{"binary", func(c net.Conn) { c.Write([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8}); io.Copy(io.Discard, c) },
		"another service answers", "another service answers", ErrNotAgent},
	{"nearly ours", func(c net.Conn) { io.WriteString(c, "netdelta plane\r\n"); io.Copy(io.Discard, c) },
		"another service", "another service", ErrNotAgent},
	{"closes", func(c net.Conn) { c.Read(make([]byte, 4096)) },
		"closed the connection before", "closed the connection before", ErrUnreachable},
}

func serveHTTP(c net.Conn) {
	l := &once{conn: c, done: make(chan struct{})}
	srv := &http.Server{ConnState: func(_ net.Conn, s http.ConnState) {
		if s == http.StateClosed {
			close(l.done)
		}
	}}
	srv.Serve(l)
	<-l.done
}

// once is a listener with one connection.
type once struct {
	conn net.Conn
	done chan struct{}
}

func (o *once) Accept() (net.Conn, error) {
	if c := o.conn; c != nil {
		o.conn = nil
		return c, nil
	}
	return nil, io.EOF
}
func (o *once) Close() error   { return nil }
func (o *once) Addr() net.Addr { return pipeAddr{} }

func serveTLS(cfg *tls.Config) func(net.Conn) {
	return func(c net.Conn) {
		_, key, _ := ed25519.GenerateKey(rand.Reader)
		cert, err := certificate(key, "www.example.org")
		if err != nil {
			panic(err)
		}
		cfg := cfg.Clone()
		cfg.Certificates = []tls.Certificate{cert}
		conn := tls.Server(c, cfg)
		conn.Handshake()
		io.Copy(io.Discard, conn)
	}
}

func TestNotAnAgent(t *testing.T) {
	for _, c := range impostors {
		for _, way := range []TCP{{Secret: mustSecret(t, secretA)}, {Insecure: true}} {
			mode, want := "secret", c.secure
			if way.Insecure {
				mode, want = "insecure", c.plain
			}
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				done := make(chan bool)
				go func() {
					defer close(done)
					for {
						conn, err := l.Accept()
						if err != nil {
							return
						}
						c.serve(conn)
						conn.Close()
					}
				}()
				way.Addr = l.Addr().String()
				_, err = Dial(t.Context(), "b", way, Options{})
				l.Close()
				<-done
				kind := c.kind
				if strings.Contains(want, "closed") {
					kind = ErrUnreachable
				}
				if !errors.Is(err, kind) || err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("got %v, want %v with %q", err, kind, want)
				}
			})
		}
	}
}
