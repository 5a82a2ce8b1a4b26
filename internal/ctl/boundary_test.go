package ctl

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"netdelta/internal/traffic"
	controlv1 "netdelta/proto/controlv1"
)

// Bad documents and oversized messages stop at the boundary.
func TestBadRequests(t *testing.T) {
	f := newFakeHost()
	reached := false
	f.prepare = func(context.Context, traffic.Config) (uint16, error) { reached = true; return 0, nil }
	f.arm = func(context.Context, netip.AddrPort) error { reached = true; return nil }
	s, end := hold(t, f, Options{})
	defer end()
	for _, c := range []struct {
		name string
		call func() error
		code connect.Code
	}{
		{"config", func() error {
			_, err := s.c.rpc.Prepare(t.Context(), connect.NewRequest(&controlv1.PrepareRequest{Session: s.id, Config: []byte("{}")}))
			return err
		}, connect.CodeInvalidArgument},
		{"peer", func() error {
			_, err := s.c.rpc.Arm(t.Context(), connect.NewRequest(&controlv1.ArmRequest{Session: s.id, Peer: "nowhere"}))
			return err
		}, connect.CodeInvalidArgument},
		{"size", func() error {
			_, err := s.c.rpc.Prepare(t.Context(), connect.NewRequest(&controlv1.PrepareRequest{Config: make([]byte, maxRequest)}))
			return err
		}, connect.CodeResourceExhausted},
		{"client's name", func() error {
			stream, err := s.c.rpc.Open(t.Context(), connect.NewRequest(&controlv1.OpenRequest{Protocol: Protocol, Client: strings.Repeat("x", maxName+1)}))
			if err != nil {
				return err
			}
			defer stream.Close()
			stream.Receive()
			return stream.Err()
		}, connect.CodeInvalidArgument},
	} {
		if err := c.call(); connect.CodeOf(err) != c.code {
			t.Errorf("%s: got %v, want %v", c.name, err, c.code)
		}
	}
	if _, err := s.Prepare(t.Context(), traffic.Config{}); !errors.Is(err, ErrInvalid) {
		t.Errorf("empty settings: got %v, want %v", err, ErrInvalid)
	}
	if reached {
		t.Error("a bad request reached the host")
	}
}
