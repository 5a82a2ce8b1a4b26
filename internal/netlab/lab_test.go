//go:build linux

package netlab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"netdelta/internal/ether"
	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/sys"
)

// roles is what the test binary does when it is started again.
var roles = map[string]func(args []string) int{
	sys.RoleWire:  ether.Main,
	sys.RoleAwake: AwakeMain,
	roleVictim:    victim,
	roleMember:    member,
	roleLeaver:    leaver,
}

func TestMain(m *testing.M) {
	os.Exit(labtest.Main(m, func(args []string) (int, bool) {
		if len(args) == 0 || roles[args[0]] == nil {
			return 0, false
		}
		return roles[args[0]](args[1:]), true
	}))
}

// links lists every kind, context and offload that can be had.
func links() []LinkConfig {
	var all []LinkConfig
	for _, k := range kinds {
		for _, name := range k.names() {
			for _, offload := range []bool{false, true} {
				c := LinkConfig{Kind: k.name, Context: name, Offload: offload, WireCPU: sys.NoCPU}
				if copied := c; copied.check() == nil {
					all = append(all, c)
				}
			}
		}
	}
	return all
}

func (c LinkConfig) String() string {
	return fmt.Sprintf("%s/%s/offload=%v", c.Kind, c.Context, c.Offload)
}

func newLab(t testing.TB) *Lab {
	t.Helper()
	labtest.Need(t, feature.NetNS)
	lab, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Close(); err != nil {
			t.Error(err)
		}
	})
	return lab
}

func connect(t testing.TB, lab *Lab, c LinkConfig) *Link {
	t.Helper()
	needLink(t, c)
	k, err := lab.Connect(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func needLink(t testing.TB, c LinkConfig) {
	t.Helper()
	if err := Check(c); errors.Is(err, feature.ErrUnavailable) {
		labtest.Skip(t, err)
	}
}

// TestEveryLink builds every link twice on one lab: what the first leaves
// would spoil the second.
func TestEveryLink(t *testing.T) {
	for _, c := range links() {
		t.Run(c.String(), func(t *testing.T) {
			needLink(t, c)
			labtest.NoLeaks(t)
			lab := newLab(t)
			for range 2 {
				k := connect(t, lab, c)
				before, err := k.Counts()
				if err != nil {
					t.Fatal(err)
				}
				ping(t, k, 20)
				checkCounts(t, k, before, idleCounts(t, k), 20)
				if err := k.Close(); err != nil {
					t.Fatal(err)
				}
				for _, h := range k.hosts() {
					if there, err := h.hasDevice(); err != nil || there {
						t.Errorf("after Close: host %s has its device: %v, %v", h.Name, there, err)
					}
				}
			}
		})
	}
}

// idleCounts reads the counts when the wire has counted what it wrote: an
// answer can come before its question's write has returned.
func idleCounts(t *testing.T, k *Link) map[string]int64 {
	t.Helper()
	var counts map[string]int64
	eventually(t, "what went into the wire came out", func() bool {
		var err error
		if counts, err = k.Counts(); err != nil {
			t.Fatal(err)
		}
		return counts["wire.a_to_b.frames_in"] == counts["wire.a_to_b.frames_out"] &&
			counts["wire.b_to_a.frames_in"] == counts["wire.b_to_a.frames_out"]
	})
	return counts
}

// checkCounts compares what the counters say with n echoes each way.
func checkCounts(t *testing.T, k *Link, before, after map[string]int64, n int64) {
	t.Helper()
	atLeast := []string{"a.rx_packets", "a.tx_packets", "b.rx_packets", "b.tx_packets"}
	none := []string{"a.rx_dropped", "a.tx_dropped", "b.rx_dropped", "b.tx_dropped"}
	switch k.cfg.Kind {
	case Ether:
		atLeast = append(atLeast, "wire.a_to_b.frames_in", "wire.a_to_b.frames_out", "wire.b_to_a.frames_in", "wire.b_to_a.frames_out")
	case Veth:
		if vethContextOf(k.cfg.Context).gro {
			atLeast = append(atLeast, "a.napi_packets", "b.napi_packets")
		} else {
			none = append(none, "a.napi_packets", "b.napi_packets")
		}
	}
	for _, name := range atLeast {
		if d := after[name] - before[name]; d < n || d > n+10 {
			t.Errorf("%s: %d for %d echoes", name, d, n)
		}
	}
	for _, name := range none {
		if d := after[name] - before[name]; d != 0 {
			t.Errorf("%s: %d", name, d)
		}
	}
}

func TestOneLinkAtATime(t *testing.T) {
	labtest.NoLeaks(t)
	lab := newLab(t)
	c := LinkConfig{Kind: Veth, Context: "backlog"}
	k := connect(t, lab, c)
	if _, err := lab.Connect(t.Context(), c); err == nil {
		t.Error("a second link was built beside the first")
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	if err := k.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if err := connect(t, lab, c).Close(); err != nil {
		t.Error(err)
	}
}

func TestConnectStopsWithItsContext(t *testing.T) {
	labtest.NoLeaks(t)
	lab := newLab(t)
	c := LinkConfig{Kind: Veth, Context: "backlog"}
	needLink(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lab.Connect(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestNoFrame has a link that is up and carries nothing: the wait must end
// with its context.
func TestNoFrame(t *testing.T) {
	lab := newLab(t)
	k := connect(t, lab, LinkConfig{Kind: Veth, Context: "backlog"})
	dev, err := lab.B.device()
	if err != nil {
		t.Fatal(err)
	}
	if err := lab.B.nl.LinkSetDown(dev); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := k.exchange(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// TestErrorMidway fails Connect at each step in turn.
func TestErrorMidway(t *testing.T) {
	for _, c := range []LinkConfig{
		{Kind: Veth, Context: "napi-threaded"},
		{Kind: Ether, Context: "kthread", WireCPU: sys.NoCPU},
	} {
		t.Run(c.Kind, func(t *testing.T) {
			needLink(t, c)
			labtest.NoLeaks(t)
			lab := newLab(t)
			stop := errors.New("stop here")
			for _, s := range (&Link{lab: lab, cfg: c}).steps() {
				lab.before = func(step string) error {
					if step == s.name {
						return stop
					}
					return nil
				}
				if _, err := lab.Connect(t.Context(), c); !errors.Is(err, stop) {
					t.Fatalf("at %q: got %v", s.name, err)
				}
				for _, h := range []*Host{lab.A, lab.B} {
					if there, err := h.hasDevice(); err != nil || there {
						t.Errorf("stopped at %q: host %s has its device: %v, %v", s.name, h.Name, there, err)
					}
				}
			}
			lab.before = nil
			if err := connect(t, lab, c).Close(); err != nil {
				t.Errorf("after all that: %v", err)
			}
		})
	}
}

// TestLabClosesItsLink relies on newLab's Close and on NoLeaks.
func TestLabClosesItsLink(t *testing.T) {
	for _, c := range []LinkConfig{{Kind: Veth, Context: "napi"}, {Kind: Ether, Context: "inline", WireCPU: sys.NoCPU}} {
		t.Run(c.Kind, func(t *testing.T) {
			needLink(t, c)
			labtest.NoLeaks(t)
			connect(t, newLab(t), c)
		})
	}
}

// TestDeadWireIsReported kills the wire under a link.
func TestDeadWireIsReported(t *testing.T) {
	labtest.NoLeaks(t)
	lab := newLab(t)
	k := connect(t, lab, LinkConfig{Kind: Ether, Context: "inline", WireCPU: sys.NoCPU})
	p, err := os.FindProcess(k.wire.PID())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	<-k.wire.Done()
	if k.Err() == nil {
		t.Error("the link does not say that its wire died")
	}
	if _, err := k.Counts(); err == nil {
		t.Error("counts of a wire that died")
	}
	if err := k.Close(); err == nil {
		t.Error("Close does not say that the wire died")
	}
	for _, h := range k.hosts() {
		if there, err := h.hasDevice(); err != nil || there {
			t.Errorf("host %s still has its TAP: %v, %v", h.Name, there, err)
		}
	}
}
