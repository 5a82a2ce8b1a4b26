package ctl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
)

// Transport makes connections to one agent.
type Transport interface {
	Dial(ctx context.Context) (net.Conn, error)
	// String names the agent's address for people.
	String() string
}

// Pipe joins a client and a server of one process. It is the listener of one
// and the transport of the other.
type Pipe struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewPipe returns a pipe that is listening.
func NewPipe() *Pipe {
	return &Pipe{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial makes a connection and returns when the server has accepted it.
func (p *Pipe) Dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	var err error
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.closed:
		err = errors.New("connect within the process: the agent has closed")
	case <-ctx.Done():
		err = fmt.Errorf("connect within the process: %w", ctx.Err())
	}
	ours.Close()
	theirs.Close()
	return nil, err
}

// Accept returns the next connection, or net.ErrClosed after Close.
func (p *Pipe) Accept() (net.Conn, error) {
	select {
	case <-p.closed:
		return nil, net.ErrClosed
	default:
	}
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close stops listening; connections that were made stay.
func (p *Pipe) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr is the listener's address; all pipes have the same.
func (p *Pipe) Addr() net.Addr { return pipeAddr{} }

// String names the transport.
func (p *Pipe) String() string { return "this process" }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

// Unix is the path of an agent's unix socket.
type Unix string

// Dial connects to the socket.
func (u Unix) Dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", string(u))
}

// String is the socket's path.
func (u Unix) String() string { return string(u) }

// Listen makes the socket, for its owner only. A socket that a dead agent has
// left is replaced; one that is in use is an error.
func (u Unix) Listen() (net.Listener, error) {
	path := string(u)
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		return nil, fmt.Errorf("listen on %s: another agent serves there: end it or choose another path", path)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() != fs.ModeSocket {
		return nil, fmt.Errorf("listen on %s: it exists and is no socket: choose another path", path)
	}
	// The socket is made inside a directory that nobody else can enter and
	// moved when its mode is right, so there is no moment at which another
	// user could connect.
	dir, err := os.MkdirTemp(filepath.Dir(path), ".n")
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	defer os.RemoveAll(dir)
	private := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: private, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	l.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(private, 0o600), os.Rename(private, path)); err != nil {
		l.Close()
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	return &unixListener{UnixListener: l, path: path}, nil
}

// unixListener takes its socket's file along when it closes.
type unixListener struct {
	*net.UnixListener
	path string
	once sync.Once
}

func (l *unixListener) Close() error {
	err := l.UnixListener.Close()
	l.once.Do(func() {
		if rm := os.Remove(l.path); !errors.Is(rm, fs.ErrNotExist) {
			err = errors.Join(err, rm)
		}
	})
	return err
}
