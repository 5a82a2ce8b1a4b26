package ctl

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"
)

// connectBound is how long a TCP connection may take to come about: four SYN
// segments, so that a link may be down for some seconds.
const connectBound = 8 * time.Second

// DeadPeer is how long the other host of a control connection may be silent,
// while it is asked for a sign of life, before it counts as gone. The length
// of the longest trial so far is added, up to four times as much.
const DeadPeer = 8 * time.Second

// TCP is an agent's TCP port. Both ends have the same secret, or both are
// insecure.
type TCP struct {
	// Addr is as ParseAddr reads it.
	Addr string
	// Secret is what both ends know. Without it Insecure is needed.
	Secret Secret
	// Insecure has no encryption, and lets everyone in who can reach the
	// port: for an isolated bench.
	Insecure bool
	// Dead replaces DeadPeer; whole seconds.
	Dead time.Duration
}

// String is the agent's address with its port.
func (t TCP) String() string {
	host, port, err := ParseAddr(t.Addr)
	if err != nil {
		return t.Addr
	}
	return joined(host, port)
}

// secured says whether connections are encrypted.
func (t TCP) secured() (bool, error) {
	switch {
	case t.Insecure && !t.Secret.IsZero():
		return false, errors.New("a secret and --insecure exclude each other: give one of them")
	case !t.Insecure && t.Secret.IsZero():
		return false, fmt.Errorf("%w for %v: give one (--secret-file, or %s in the environment), or --insecure on an isolated bench", ErrNoSecret, t, SecretEnv)
	}
	return !t.Insecure, nil
}

// config is how one end encrypts, nil if it does not.
func (t TCP) config(own, other string) (*tls.Config, error) {
	if yes, err := t.secured(); err != nil || !yes {
		return nil, err
	}
	return tlsConfig(t.Secret, own, other)
}

// keepAlive has a peer that is silent asked for a sign of life, so that its
// death is noticed within t.Dead.
func (t TCP) keepAlive() net.KeepAliveConfig {
	dead := t.dead()
	return net.KeepAliveConfig{
		Enable:   true,
		Idle:     max(dead/2, time.Second),
		Interval: max(dead/8, time.Second),
		Count:    4,
	}
}

func (t TCP) dead() time.Duration {
	if t.Dead == 0 {
		return DeadPeer
	}
	return t.Dead
}

// option sets on a socket how long what was sent may stay without an answer.
func (t TCP) option(_, _ string, c syscall.RawConn) error {
	var err error
	if failed := c.Control(func(fd uintptr) { err = setUserTimeout(int(fd), t.dead()) }); failed != nil {
		return failed
	}
	return err
}

// dialError is a connection that could not be made, in a sentence. What the
// system or TLS said is in the text only: it would be mistaken for an error of
// HTTP.
type dialError struct {
	kind error // one of this package's
	text string
}

func (e *dialError) Error() string { return e.text }
func (e *dialError) Unwrap() error { return e.kind }

// Check reports what is wrong with the address or the secret of a way to an
// agent.
func (t TCP) Check() error {
	host, _, err := ParseAddr(t.Addr)
	if err == nil && host == "" {
		err = fmt.Errorf("address %q names no host", t.Addr)
	}
	if err != nil {
		return err
	}
	_, err = t.secured()
	return err
}

// Dial connects to the agent and finds out that it is one, and that both ends
// have the same secret.
func (t TCP) Dial(ctx context.Context) (net.Conn, error) {
	if err := t.Check(); err != nil {
		return nil, &dialError{ErrInvalid, err.Error()}
	}
	cfg, err := t.config(clientName, agentName)
	if err != nil {
		return nil, &dialError{ErrInvalid, err.Error()}
	}
	d := net.Dialer{Timeout: connectBound, KeepAliveConfig: t.keepAlive(), Control: t.option}
	raw, err := d.DialContext(ctx, "tcp", t.String())
	if err != nil {
		return nil, unconnected(ctx, err, t.String())
	}
	conn, err := t.present(ctx, raw, cfg)
	if err != nil {
		raw.Close()
		return nil, err
	}
	return conn, nil
}

func (t TCP) present(ctx context.Context, raw net.Conn, cfg *tls.Config) (net.Conn, error) {
	if err := raw.SetDeadline(time.Now().Add(greetBound)); err != nil {
		return nil, err
	}
	interrupted := context.AfterFunc(ctx, func() { raw.SetDeadline(time.Unix(1, 0)) })
	conn, err := present(ctx, raw, cfg, t.String())
	if !interrupted() {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	return &tcpConn{Conn: conn, dead: t.dead()}, raw.SetDeadline(time.Time{})
}

// unconnected puts into words why there is no connection.
func unconnected(ctx context.Context, err error, addr string) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Cause(ctx)
	}
	e := &dialError{kind: ErrUnreachable}
	var name *net.DNSError
	switch {
	case errors.As(err, &name):
		e.text = fmt.Sprintf("the name %s cannot be resolved: %s", name.Name, name.Err)
	case errors.Is(err, syscall.ECONNREFUSED):
		e.kind = ErrRefused
		e.text = fmt.Sprintf("nothing listens at %s: is the agent running there (netdelta agent), and at this port?", addr)
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EADDRNOTAVAIL):
		e.text = fmt.Sprintf("no way to %s (%s): is the host up, and is there a route?", addr, bare(err))
	case isTimeout(err):
		e.text = fmt.Sprintf("%s does not answer: is the host up, and does a firewall let its TCP port through?", addr)
	default:
		e.text = fmt.Sprintf("no connection to %s: %s", addr, bare(err))
	}
	return e
}

// bare is an error without the words that package net puts before it.
func bare(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}

// ErrPort is wrapped by errors of Listen that are about the address and not
// about how it was written.
var ErrPort = errors.New("the port cannot be had")

// Listen opens the agent's port. The listener hands out connections only of
// clients that have the secret. refused is told about the others, unless it is
// nil; it may be called by several goroutines.
func (t TCP) Listen(refused func(from net.Addr, why error)) (net.Listener, error) {
	host, port, err := ParseAddr(t.Addr)
	if err != nil {
		return nil, err
	}
	cfg, err := t.config(agentName, clientName)
	if err != nil {
		return nil, err
	}
	lc := net.ListenConfig{KeepAliveConfig: t.keepAlive(), Control: t.option}
	l, err := lc.Listen(context.Background(), "tcp", joined(host, port))
	if err != nil {
		return nil, unlistened(err, t.String(), port)
	}
	return tcpListener{newGate(l, cfg, refused), t.dead()}, nil
}

// unlistened puts into words why a port cannot be had.
func unlistened(err error, addr string, port uint16) error {
	advice := bare(err).Error()
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		advice = fmt.Sprintf("the port is taken, by another agent or another program (ss -ltnp sport = :%d names it): end that, or choose another port (--listen :%d)", port, other(port))
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		advice = "no interface here has that address"
	case errors.Is(err, fs.ErrPermission):
		advice = fmt.Sprintf("port %d is for programs with CAP_NET_BIND_SERVICE: choose one from 1024 on", port)
	case os.IsTimeout(err):
		advice = "the name cannot be resolved in time"
	}
	return fmt.Errorf("listen on %s: %s (%w: %w)", addr, advice, ErrPort, bare(err))
}

// other is a port to propose instead of a taken one.
func other(port uint16) uint16 {
	if port > 65000 {
		return port - 100
	}
	return port + 100
}
