package ctl

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"netdelta/internal/result"
	"netdelta/internal/traffic"
	controlv1 "netdelta/proto/controlv1"
	"netdelta/proto/controlv1/controlv1connect"
)

// counted are settings and figures with all that an older side does not know,
// and the names that this has in a document.
func counted() (traffic.Config, *result.End, []string) {
	cfg := testConfig()
	cfg.Counters, cfg.Soak, cfg.Baseline = []string{"cpu"}, true, time.Second
	cfg.OneMachine, cfg.CPUScope = true, []int{0}
	e := testEnd()
	e.Counters = &result.Counters{CPUs: []int{0}}
	return cfg, e, []string{`"counters"`, `"soak"`, `"baseline_ns"`, `"one_machine"`, `"cpu_scope"`}
}

// elder is an agent that speaks the protocol before protocolCounting, and keeps
// the settings that it is sent.
type elder struct {
	otherAgent
	settings chan string
}

func (e elder) Prepare(_ context.Context, r *connect.Request[controlv1.PrepareRequest]) (*connect.Response[controlv1.PrepareResponse], error) {
	e.settings <- string(r.Msg.GetConfig())
	return connect.NewResponse(&controlv1.PrepareResponse{Address: "192.0.2.1", Port: 1}), nil
}

// An agent of a release that counts nothing is not asked to.
func TestOlderAgentIsNotAskedToCount(t *testing.T) {
	cfg, _, names := counted()
	for _, newest := range []uint32{protocolCounting - 1, protocolCounting} {
		e := elder{otherAgent{span: span{MinProtocol, newest}, asked: make(chan *controlv1.OpenRequest, 1)}, make(chan string, 1)}
		mux := http.NewServeMux()
		mux.Handle(controlv1connect.NewHostHandler(e))
		p := NewPipe()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- Serve(ctx, p, mux) }()
		c, err := Dial(t.Context(), "b", p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Prepare(t.Context(), cfg); err != nil {
			t.Error(err)
		}
		told := <-e.settings
		for _, name := range names {
			if got, want := strings.Contains(told, name), newest >= protocolCounting; got != want {
				t.Errorf("protocol %d: %s is in the settings: %v, want %v", newest, name, got, want)
			}
		}
		if got := c.Hello().Counts(); got != (newest >= protocolCounting) {
			t.Errorf("protocol %d: counts: %v", newest, got)
		}
		s.Close()
		c.Close()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A client of such a release is not told what was counted, at either end.
func TestOlderClientIsNotTold(t *testing.T) {
	_, end, _ := counted()
	f := newFakeHost()
	f.run = func(context.Context) (*result.End, error) { return end, nil }
	f.drain = f.run
	p := NewPipe()
	defer serve(t, p, f)()
	c, err := Dial(t.Context(), "b", p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, version := range []uint32{protocolCounting - 1, protocolCounting} {
		c.hello.Protocol = version
		s, err := c.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ran, err := s.Run(t.Context())
		drained, err2 := s.Drain(t.Context())
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		for i, e := range []*result.End{ran, drained} {
			if e.Messages != end.Messages || (e.Counters != nil) != (version >= protocolCounting) {
				t.Errorf("protocol %d, answer %d: %+v", version, i, e)
			}
		}
		s.Close()
		<-f.ended
	}
	if end.Counters == nil || !slices.Equal(end.Counters.CPUs, []int{0}) {
		t.Error("the host's own figures were changed")
	}
}
