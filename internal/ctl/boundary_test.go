package ctl

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"netdelta/internal/traffic"
	controlv1 "netdelta/proto/controlv1"
	"netdelta/proto/controlv1/controlv1connect"
)

func TestProtocolsDiffer(t *testing.T) {
	t.Run("client", func(t *testing.T) {
		f := newFakeHost()
		p := NewPipe()
		defer serve(t, p, f)()
		c, err := Dial(t.Context(), "b", p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		stream, err := c.rpc.Open(t.Context(), connect.NewRequest(&controlv1.OpenRequest{Protocol: Protocol + 1}))
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		if stream.Receive() || connect.CodeOf(stream.Err()) != connect.CodeUnimplemented {
			t.Errorf("got %v, want %v", stream.Err(), ErrProtocol)
		}
	})
	t.Run("agent", func(t *testing.T) {
		p := NewPipe()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		mux := http.NewServeMux()
		mux.Handle(controlv1connect.NewHostHandler(later{}))
		go func() { done <- Serve(ctx, p, mux) }()
		_, err := Dial(t.Context(), "b", p, Options{Version: "v1"})
		if !errors.Is(err, ErrProtocol) || !strings.Contains(err.Error(), "install the same version") {
			t.Errorf("got %v, want %v with advice", err, ErrProtocol)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// later is an agent of a later version.
type later struct {
	controlv1connect.UnimplementedHostHandler
}

func (later) Hello(context.Context, *connect.Request[controlv1.HelloRequest]) (*connect.Response[controlv1.HelloResponse], error) {
	return connect.NewResponse(&controlv1.HelloResponse{Version: "v2", Protocol: Protocol + 1}), nil
}

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
			_, err := s.c.rpc.Prepare(t.Context(), connect.NewRequest(&controlv1.PrepareRequest{Config: make([]byte, maxMessage)}))
			return err
		}, connect.CodeResourceExhausted},
		{"client's name", func() error {
			stream, err := s.c.rpc.Open(t.Context(), connect.NewRequest(&controlv1.OpenRequest{Protocol: Protocol, Client: strings.Repeat("x", maxClient+1)}))
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
