package ctl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"strings"
	"testing"
)

// Every error of a host reaches the client as the same error, in a sentence
// that names the host and the step and keeps the host's own words.
func TestErrorsTravel(t *testing.T) {
	f := newFakeHost()
	s, end := hold(t, f, Options{})
	defer end()
	for _, kind := range []error{ErrInvalid, ErrProtocol, ErrNoSession, ErrLimit, ErrBusy, ErrState, ErrIdle, ErrAborted, ErrWorkerDied, ErrClosing, fs.ErrPermission, context.Canceled} {
		t.Run(kind.Error(), func(t *testing.T) {
			f.arm = func(context.Context, netip.AddrPort) error { return fmt.Errorf("while testing: %w", kind) }
			err := s.Arm(t.Context(), netip.MustParseAddrPort("192.0.2.2:7"))
			if !errors.Is(err, kind) {
				t.Errorf("got %v, want %v", err, kind)
			}
			if want := "host b: arm: while testing: " + kind.Error(); err == nil || err.Error() != want {
				t.Errorf("got %q, want %q", err, want)
			}
		})
	}
}

func TestUnknownErrorTravels(t *testing.T) {
	f := newFakeHost()
	s, end := hold(t, f, Options{})
	defer end()
	f.arm = func(context.Context, netip.AddrPort) error { return errors.New("bind: address already in use") }
	err := s.Arm(t.Context(), netip.MustParseAddrPort("192.0.2.2:7"))
	var e *Error
	if !errors.As(err, &e) || e.Kind != nil || e.Host != "b" || e.Step != "arm" {
		t.Errorf("got %#v, want an *Error of no kind", err)
	}
	if want := "host b: arm: bind: address already in use"; err == nil || err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

// Each kind has a code of its own: two that shared one could not be told
// apart at the far side.
func TestCodesDiffer(t *testing.T) {
	for i, a := range codes {
		for _, b := range codes[:i] {
			if a.code == b.code {
				t.Errorf("%v and %v share the code %v", a.err, b.err, a.code)
			}
		}
	}
}

func TestDialNobody(t *testing.T) {
	p := NewPipe()
	p.Close()
	_, err := Dial(t.Context(), "b", p, Options{})
	if !errors.Is(err, ErrUnreachable) {
		t.Errorf("got %v, want %v", err, ErrUnreachable)
	}
	for _, want := range []string{"host b: hello:", "this process", "is it running?"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %q lacks %q", err, want)
		}
	}
}
