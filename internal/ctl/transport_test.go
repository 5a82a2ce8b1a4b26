package ctl

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestUnixListen(t *testing.T) {
	dir := t.TempDir()
	u := Unix(filepath.Join(dir, "agent.sock"))
	l, err := u.Listen()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(u.String())
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("the socket's mode is %v, want 0600", mode)
	}
	if _, err := u.Listen(); err == nil || !strings.Contains(err.Error(), "another agent") {
		t.Errorf("a second agent at the same path: got error %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, error %v", left, err)
	}
}

func TestUnixListenReplacesDeadSocket(t *testing.T) {
	u := Unix(filepath.Join(t.TempDir(), "agent.sock"))
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: u.String(), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	l, err := u.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := u.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestUnixListenSparesFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Unix(path).Listen(); err == nil || !strings.Contains(err.Error(), "no socket") {
		t.Errorf("got error %v", err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "x" {
		t.Errorf("the file now has %q, error %v", data, err)
	}
}

func TestPipe(t *testing.T) {
	p := NewPipe()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Dial(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("dial with nobody accepting: got %v, want %v", err, context.Canceled)
	}
	if err := errors.Join(p.Close(), p.Close()); err != nil {
		t.Error(err)
	}
	if _, err := p.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept after close: got %v, want %v", err, net.ErrClosed)
	}
	if _, err := p.Dial(t.Context()); err == nil {
		t.Error("dial after close went well")
	}
}
