package ctl

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/feature"
	"netdelta/internal/result"
	"netdelta/proto/controlv1/controlv1connect"
)

// What is asked for arrives, and what was counted comes back.
func TestCheckup(t *testing.T) {
	f := newFakeHost()
	var asked Look
	counted := result.Counters{CPUs: []int{0, 1}, Device: "eth0", Readings: []result.Reading{
		{Source: result.SourceCPU, Elapsed: time.Second, Counts: map[string]int64{"cpu0.idle": 1e9}}}}
	f.checkup = func(_ context.Context, l Look) (*result.Counters, error) { asked = l; return &counted, nil }
	p := NewPipe()
	defer serve(t, p, f)()
	c, err := Dial(t.Context(), "b", p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, l := range []Look{
		{Length: time.Second},
		{Addr: netip.MustParseAddr("192.0.2.1"), Length: MaxLook},
		{Peer: netip.MustParseAddr("fe80::1%eth0"), Length: time.Millisecond},
	} {
		got, err := c.Checkup(t.Context(), l)
		if err != nil || !cmp.Equal(*got, counted) {
			t.Errorf("%v: got %+v, %v", l, got, err)
		}
		if asked != l {
			t.Errorf("asked for %v, the host was asked for %v", l, asked)
		}
	}
	if _, err := c.Checkup(t.Context(), Look{Addr: netip.IPv4Unspecified(), Length: time.Second}); err != nil || asked.Addr.IsValid() {
		t.Errorf("an open address arrived as %v, %v", asked.Addr, err)
	}

	for _, d := range []time.Duration{0, MaxLook + time.Second} {
		if _, err := c.Checkup(t.Context(), Look{Length: d}); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "out of range") {
			t.Errorf("%v: got %v", d, err)
		}
	}
	counted.Readings[0].Elapsed = -1
	if _, err := c.Checkup(t.Context(), Look{Length: time.Second}); err == nil || !strings.Contains(err.Error(), "host b: checkup: ") {
		t.Errorf("counters that can't be: %v", err)
	}
	f.checkup = func(context.Context, Look) (*result.Counters, error) { return nil, ErrBusy }
	if _, err := c.Checkup(t.Context(), Look{Length: time.Second}); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v", err)
	}
}

// An agent of an older program has no such call: the error says so, and is
// told apart from others.
func TestCheckupOfOlderAgent(t *testing.T) {
	p := NewPipe()
	known := Handler(newFakeHost())
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- Serve(ctx, net.Listener(p), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == controlv1connect.HostCheckupProcedure {
				http.NotFound(w, r)
				return
			}
			known.ServeHTTP(w, r)
		}))
	}()
	defer func() { cancel(); <-done }()
	c, err := Dial(t.Context(), "b", p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Checkup(t.Context(), Look{Length: time.Second})
	if !errors.Is(err, feature.ErrUnavailable) || !strings.Contains(err.Error(), "netdelta v1.2.3, is too old") {
		t.Errorf("got %v", err)
	}
}
