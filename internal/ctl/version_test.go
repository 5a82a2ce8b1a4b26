package ctl

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"connectrpc.com/connect"

	controlv1 "netdelta/proto/controlv1"
	"netdelta/proto/controlv1/controlv1connect"
)

func TestAgree(t *testing.T) {
	for _, c := range []struct {
		a, b span
		want uint32
		ok   bool
	}{
		{span{2, 2}, span{2, 2}, 2, true},
		{span{2, 3}, span{2, 2}, 2, true},
		{span{2, 3}, span{3, 4}, 3, true},
		{span{2, 4}, span{1, 3}, 3, true},
		{span{1, 9}, span{4, 5}, 5, true},
		{span{2, 2}, span{3, 3}, 0, false},
		{span{2, 3}, span{4, 5}, 0, false},
		{span{2, 2}, span{0, 0}, 0, false},
	} {
		for range 2 {
			got, ok := agree(c.a, c.b)
			if ok != c.ok || ok && got != c.want {
				t.Errorf("%v and %v: got %d, %v, want %d, %v", c.a, c.b, got, ok, c.want, c.ok)
			}
			c.a, c.b = c.b, c.a
		}
	}
	for _, c := range []struct {
		oldest, newest uint32
		want           span
	}{{0, 1, span{1, 1}}, {1, 3, span{1, 3}}, {5, 3, span{3, 3}}, {0, 0, span{0, 0}}} {
		if got := spanOf(c.oldest, c.newest); got != c.want {
			t.Errorf("%d to %d: got %v, want %v", c.oldest, c.newest, got, c.want)
		}
	}
}

// Whatever a peer tells of itself, what is agreed on is spoken by both, and
// the newest such; and both sides come to the same.
func FuzzAgree(f *testing.F) {
	f.Add(uint32(0), uint32(1))
	f.Add(uint32(MinProtocol), uint32(Protocol+1))
	f.Add(uint32(1<<32-1), uint32(0))
	f.Fuzz(func(t *testing.T, oldest, newest uint32) {
		theirs := spanOf(oldest, newest)
		if theirs.oldest > theirs.newest {
			t.Fatalf("%d to %d is %v", oldest, newest, theirs)
		}
		v, ok := agree(ours, theirs)
		if w, same := agree(theirs, ours); ok != same || v != w {
			t.Fatalf("%v: %d, %v here and %d, %v there", theirs, v, ok, w, same)
		}
		if ok != (theirs.oldest <= ours.newest && ours.oldest <= theirs.newest) {
			t.Fatalf("%v and %v: agreed %v", ours, theirs, ok)
		}
		if ok && (!ours.has(v) || !theirs.has(v) || ours.has(v+1) && theirs.has(v+1)) {
			t.Fatalf("%v and %v agree on %d", ours, theirs, v)
		}
	})
}

// otherAgent is an agent of another release, which speaks what its span says.
type otherAgent struct {
	controlv1connect.UnimplementedHostHandler
	span
	asked chan *controlv1.OpenRequest
}

func (o otherAgent) Hello(context.Context, *connect.Request[controlv1.HelloRequest]) (*connect.Response[controlv1.HelloResponse], error) {
	return connect.NewResponse(&controlv1.HelloResponse{Version: "v9", Protocol: o.newest, MinProtocol: o.oldest}), nil
}

func (o otherAgent) Open(ctx context.Context, r *connect.Request[controlv1.OpenRequest], s *connect.ServerStream[controlv1.Event]) error {
	o.asked <- r.Msg
	if err := s.Send(&controlv1.Event{Session: "s1"}); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

// An agent that is older or newer works in the version that both speak, or is
// refused with both named.
func TestOtherAgents(t *testing.T) {
	for _, c := range []struct {
		name  string
		speak span // oldest 0: it does not tell
		want  uint32
	}{
		{"older", span{0, MinProtocol - 1}, 0},
		{"older, with a range", span{1, MinProtocol - 1}, 0},
		{"older, still spoken", span{0, MinProtocol}, MinProtocol},
		{"newer", span{Protocol + 1, Protocol + 2}, 0},
		{"newer, speaks ours", span{MinProtocol, Protocol + 1}, Protocol},
		{"same", span{0, Protocol}, Protocol},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := NewPipe()
			o := otherAgent{span: c.speak, asked: make(chan *controlv1.OpenRequest, 1)}
			mux := http.NewServeMux()
			mux.Handle(controlv1connect.NewHostHandler(o))
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- Serve(ctx, p, mux) }()
			defer func() {
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			}()
			client, err := Dial(t.Context(), "b", p, Options{Version: "v1"})
			if c.want == 0 {
				if !errors.Is(err, ErrProtocol) {
					t.Fatalf("got %v, want %v", err, ErrProtocol)
				}
				for _, want := range []string{`version "v9"`, spanOf(c.speak.oldest, c.speak.newest).String(), `version "v1"`, ours.String(), "install the same version"} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("error %q lacks %q", err, want)
					}
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			if got := client.Hello().Protocol; got != c.want {
				t.Errorf("the client speaks %d, want %d", got, c.want)
			}
			s, err := client.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := (<-o.asked).GetProtocol(); got != c.want {
				t.Errorf("a session was asked for in %d, want %d", got, c.want)
			}
			s.Close()
		})
	}
}

// A client that goes by its own version only is refused by the agent.
func TestOtherClients(t *testing.T) {
	f := newFakeHost()
	p := NewPipe()
	defer serve(t, p, f)()
	c, err := Dial(t.Context(), "b", p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, version := range []uint32{0, MinProtocol - 1, Protocol + 1} {
		stream, err := c.rpc.Open(t.Context(), connect.NewRequest(&controlv1.OpenRequest{Protocol: version, Version: "v0"}))
		if err != nil {
			t.Fatal(err)
		}
		if stream.Receive() || connect.CodeOf(stream.Err()) != connect.CodeUnimplemented {
			t.Errorf("%d: got %v, want %v", version, stream.Err(), ErrProtocol)
		}
		for _, want := range []string{`(version "v0") speaks ` + fmt.Sprint(version), `this agent (version "v1.2.3") ` + ours.String()} {
			if err := stream.Err(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %q lacks %q", err, want)
			}
		}
		stream.Close()
	}
}
