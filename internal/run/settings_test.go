package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/ctl"
	"netdelta/internal/feature"
	"netdelta/internal/knob"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// fakeKeeper is what a host of the rig has in place of its settings: each is "0"
// until it is set.
type fakeKeeper struct {
	g    *rig
	host string
	now  map[string]string
}

func (k *fakeKeeper) Set(ctx context.Context, q knob.Request) ([]result.Change, error) {
	words := []string{k.host, "set"}
	for _, s := range q.Settings {
		words = append(words, s.Knob+"="+s.Value)
	}
	k.g.mu.Lock()
	k.g.asked[k.host] = q
	k.g.mu.Unlock()
	if err := k.g.note(strings.Join(words, " ")); err != nil {
		if errors.Is(err, errHang) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return nil, err
	}
	if k.now == nil {
		k.now = map[string]string{}
	}
	var changes []result.Change
	for _, s := range q.Settings {
		was := k.now[s.Knob]
		if was == "" {
			was = "0"
		}
		if was != s.Value {
			changes = append(changes, result.Change{End: q.End, Knob: s.Knob, Device: "eth0", Value: s.Value, Was: was})
		}
		k.now[s.Knob] = s.Value
	}
	return changes, nil
}

func (k *fakeKeeper) Restore(context.Context) error {
	k.now = nil
	return k.g.note(k.host + " restore")
}

// setting is one of the MTU, which is put on the levels of the rig's plan.
func setting(end, value string) spec.Setting {
	return spec.Setting{End: end, Knob: "mtu", Value: value}
}

// tuned gives the plan one test, and each level of its factor settings.
func tuned(b *bench, softirq, kthread []spec.Setting) {
	b.cfg.Plan.Tests = b.cfg.Plan.Tests[1:]
	b.cfg.Plan.Blocks = 2
	b.cfg.Plan.Factors[0].Settings = map[string][]spec.Setting{"softirq": softirq, "kthread": kthread}
}

// of are a host's steps that have to do with settings, and the paths' ends too if
// they are wanted.
func of(host string, log []string, more ...string) []string {
	return slices.DeleteFunc(slices.Clone(log), func(l string) bool {
		return !strings.HasPrefix(l, host+" set") && l != host+" restore" && !slices.Contains(more, l)
	})
}

// Between hosts settings stay from slot to slot and are put back once.
func TestSettings(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		tuned(b, []spec.Setting{setting(spec.EndRemote, "1500")}, []spec.Setting{setting(spec.EndRemote, "9000")})
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, s := range b.cfg.Plan.Schedule() {
			want = append(want, "b set mtu="+map[string]string{"softirq": "1500", "kthread": "9000"}[s.Variant["rx"]])
		}
		if d := cmp.Diff(append(want, "b restore"), of("b", b.log)); d != "" {
			t.Errorf("steps (-want +got)\n%s", d)
		}
		was := "0"
		for i, tr := range b.trials {
			value := map[string]string{"softirq": "1500", "kthread": "9000"}[tr.Variant["rx"]]
			var want []result.Change
			if was != value {
				want = []result.Change{{End: result.Remote, Knob: "mtu", Device: "eth0", Value: value, Was: was}}
			}
			if d := cmp.Diff(want, tr.Changes); d != "" {
				t.Errorf("trial %d (-want +got)\n%s", i, d)
			}
			was = value
		}
	})
}

// A path that is made for its slot has its settings put back before it goes. All
// tests of the slot have its changes.
func TestSettingsOfFreshPaths(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		tests := b.cfg.Plan.Tests
		tuned(b, []spec.Setting{setting(spec.EndBoth, "1500")}, []spec.Setting{setting(spec.EndBoth, "9000")})
		b.cfg.Plan.Tests, b.cfg.Plan.Blocks = tests, 1
		b.path = func(p *Path) { p.Fresh = true }
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		for _, host := range []string{"a", "b"} {
			var want []string
			for _, s := range b.cfg.Plan.Schedule() {
				value := map[string]string{"softirq": "1500", "kthread": "9000"}[s.Variant["rx"]]
				want = append(want, host+" set mtu="+value, host+" restore", "close")
			}
			if d := cmp.Diff(want, of(host, b.log, "close")); d != "" {
				t.Errorf("host %s (-want +got)\n%s", host, d)
			}
		}
		for i, tr := range b.trials {
			ends := []string{}
			for _, c := range tr.Changes {
				ends = append(ends, c.End)
			}
			if d := cmp.Diff([]string{result.Local, result.Remote}, ends); d != "" {
				t.Errorf("trial %d: changes (-want +got)\n%s", i, d)
			}
		}
	})
}

// What the hosts are asked: with commands the remote end first, and each end with
// the addresses that it finds the interface by.
func TestSettingsRequest(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		run := spec.Setting{End: spec.EndBoth, Knob: "command", Value: "old", Command: &spec.Command{Apply: "true"}}
		tuned(b, []spec.Setting{run}, []spec.Setting{run})
		b.cfg.Plan.Blocks = 1
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		if a, z := slices.Index(b.log, "a set command=old"), slices.Index(b.log, "b set command=old"); a < 0 || z < 0 || a < z {
			t.Errorf("steps %q", b.log)
		}
		for host, want := range map[string]knob.Request{
			"a": {End: spec.EndLocal, Settings: []spec.Setting{run}, Addr: addrA, Peer: addrB, Probe: true},
			"b": {End: spec.EndRemote, Settings: []spec.Setting{run}, Addr: addrB, Peer: addrA, Probe: true},
		} {
			if d := cmp.Diff(want, b.asked[host], cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); d != "" {
				t.Errorf("host %s (-want +got)\n%s", host, d)
			}
		}
	})
}

// Where only the local host knows its address, the remote end is first asked
// without, and before the local one.
func TestSettingsPeerUnknown(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		tuned(b, []spec.Setting{setting(spec.EndBoth, "1500")}, []spec.Setting{setting(spec.EndBoth, "9000")})
		there := netip.MustParseAddr("127.0.0.2") // to which there is a way on any machine
		b.path = func(p *Path) { p.LocalAddr, p.RemoteAddr = netip.IPv4Unspecified(), there }
		first := map[string]knob.Request{}
		b.fail = func(step string, nth int) error {
			host := step[:1]
			if _, known := first[host]; !known && strings.Contains(step, " set ") {
				b.mu.Lock()
				first[host] = b.asked[host]
				b.mu.Unlock()
				if host == "a" && len(first) != 2 {
					t.Error("the local end was asked first")
				}
			}
			return nil
		}
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		if q := first["b"]; q.Peer.IsValid() || q.Probe || q.Addr != there {
			t.Errorf("the remote end was asked with %+v", q)
		}
		if q := first["a"]; q.Addr.IsValid() || !q.Probe || q.Peer != there {
			t.Errorf("the local end was asked with %+v", q)
		}
		// The first trial's worker has told the address.
		if q := b.asked["b"]; !q.Peer.IsValid() || q.Peer.IsUnspecified() || !q.Probe {
			t.Errorf("the remote end was asked at last with %+v", q)
		}
	})
}

func TestSettingsFail(t *testing.T) {
	for _, c := range []struct {
		name     string
		fail     func(step string, nth int) error
		trials   int
		attempts int // of the last trial, or told by the error
		want     error
	}{
		{"once", at("b set mtu=9000", 1, errBroken), 4, 2, nil},
		{"for good", from("b set mtu=9000", 1, errBroken), -1, 2, ErrStopped},
		{"not to be had", from("b set mtu=9000", 1, fmt.Errorf("mtu: %w", feature.ErrUnavailable)), -1, 1, feature.ErrUnavailable},
		{"forbidden", from("b set mtu=9000", 1, fmt.Errorf("mtu: %w", fs.ErrPermission)), -1, 1, fs.ErrPermission},
		{"invalid", from("b set mtu=9000", 1, fmt.Errorf("mtu: %w", ctl.ErrInvalid)), -1, 1, ctl.ErrInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			on(t, func(t *testing.T, b *bench) {
				tuned(b, []spec.Setting{setting(spec.EndRemote, "1500")}, []spec.Setting{setting(spec.EndRemote, "9000")})
				b.fail = c.fail
				err := Run(t.Context(), b.cfg)
				if far := of("b", b.log); far[len(far)-1] != "b restore" {
					t.Errorf("host b: %q", far)
				}
				if c.want == nil {
					if err != nil || len(b.trials) != c.trials {
						t.Fatalf("%d trials, %v", len(b.trials), err)
					}
					first := slices.IndexFunc(b.trials, func(x result.Trial) bool { return x.Variant["rx"] == "kthread" })
					x := b.trials[first]
					if x.Attempt != c.attempts || !hasCode(x.Warnings, CodeRepeated) || len(x.Changes) != 1 || x.Changes[0].Was != "0" {
						t.Errorf("trial %+v", x)
					}
					return
				}
				if !errors.Is(err, ErrStopped) || !errors.Is(err, c.want) || errors.Is(err, ErrUnrestored) ||
					!strings.Contains(err.Error(), "failed "+times(c.attempts)+": host b: set: ") {
					t.Errorf("error %v", err)
				}
				for _, x := range b.trials {
					if x.Variant["rx"] != "softirq" || len(x.Warnings) > 0 {
						t.Errorf("kept %v with %v", x.Variant, x.Warnings)
					}
				}
			})
		})
	}
}

// A session that is lost has lost its settings: they are made again in the next.
func TestSettingsOfLostSession(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		tuned(b, []spec.Setting{setting(spec.EndBoth, "1500")}, []spec.Setting{setting(spec.EndBoth, "9000")})
		b.cfg.Patience = 20 * time.Second
		b.fail = func(step string, nth int) error {
			if step == "a run" && nth == 2 {
				b.cut["b"].cut(true)
				time.AfterFunc(5*time.Second, b.cut["b"].restore)
			}
			return nil
		}
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		if len(b.trials) != 4 || b.trials[1].Attempt != 2 || len(b.trials[1].Changes) != 2 {
			t.Errorf("trials %+v", b.trials)
		}
		value := func(i int) string {
			return "b set mtu=" + map[string]string{"softirq": "1500", "kthread": "9000"}[b.cfg.Plan.Schedule()[i].Variant["rx"]]
		}
		want := []string{value(0), value(1), "b restore", value(1), value(2), value(3), "b restore"}
		if d := cmp.Diff(want, of("b", b.log)); d != "" {
			t.Errorf("host b (-want +got)\n%s", d)
		}
	})
}

// A host that does not come back is named: what it had set is its agent's to put
// back.
func TestSettingsOfLostHost(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		tuned(b, []spec.Setting{setting(spec.EndBoth, "1500")}, []spec.Setting{setting(spec.EndBoth, "9000")})
		b.fail = func(step string, nth int) error {
			if step == "a run" && nth == 1 {
				b.cut["b"].cut(true)
			}
			return nil
		}
		err := Run(t.Context(), b.cfg)
		if !errors.Is(err, ErrStopped) || !errors.Is(err, ErrUnrestored) || !strings.Contains(err.Error(), "host b has gone") {
			t.Errorf("got %v", err)
		}
		// Host a is there, and has told that it is done.
		if err != nil && strings.Contains(err.Error(), "host a") {
			t.Errorf("host a is said to be left changed: %v", err)
		}
		if n := b.nth["a restore"]; n != 1 {
			t.Errorf("host a put back %d times", n)
		}
	})
}

// An interrupt while something is being set: what is set is put back all the same.
func TestSettingsInterrupted(t *testing.T) {
	for _, hang := range []string{"a set mtu=9000", "a run"} {
		t.Run(hang, func(t *testing.T) {
			on(t, func(t *testing.T, b *bench) {
				tuned(b, []spec.Setting{setting(spec.EndLocal, "9000")}, []spec.Setting{setting(spec.EndLocal, "9000")})
				ctx, cancel := context.WithCancel(t.Context())
				b.fail = func(step string, nth int) error {
					if step == hang {
						cancel()
						return errHang
					}
					return nil
				}
				err := Run(ctx, b.cfg)
				if !errors.Is(err, ErrInterrupted) || errors.Is(err, ErrUnrestored) {
					t.Errorf("got %v", err)
				}
				if b.nth["a restore"] != 1 {
					t.Errorf("log %q", b.log)
				}
			})
		})
	}
}

// What can't be put back is an error, of its own where everything was measured.
func TestUnrestored(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		tuned(b, []spec.Setting{setting(spec.EndLocal, "1500")}, []spec.Setting{setting(spec.EndLocal, "9000")})
		b.fail = from("a restore", 1, errBroken)
		var ended []Ending
		b.cfg.Ended = func(e Ending) { ended = append(ended, e) }
		err := Run(t.Context(), b.cfg)
		if !errors.Is(err, ErrUnrestored) || errors.Is(err, ErrStopped) || !strings.Contains(err.Error(), errBroken.Error()) {
			t.Errorf("got %v", err)
		}
		if len(b.trials) != 4 || !slices.Equal(ended, []Ending{EndedWhole}) {
			t.Errorf("%d trials, ended %v", len(b.trials), ended)
		}
	})
}

// Hosts of which nothing is asked are not told to set anything.
func TestNothingToSet(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		own := func(size, cpu string) []spec.Setting {
			return []spec.Setting{{End: spec.EndBoth, Knob: "param.size", Value: size}, {End: spec.EndBoth, Knob: "cpu", Value: cpu}}
		}
		tuned(b, own("8", "none"), own("9", "3,5"))
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(b.log, func(l string) bool { return strings.Contains(l, " set") || strings.Contains(l, " restore") }); i >= 0 {
			t.Errorf("did %s", b.log[i])
		}
	})
}

func TestBind(t *testing.T) {
	for _, c := range []struct {
		end, value    string
		local, remote []int
	}{
		{spec.EndLocal, "3", []int{3}, []int{1, 2}},
		{spec.EndRemote, "4,6", []int{0}, []int{4, 6}},
		{spec.EndBoth, "none", []int{-1}, []int{-1}},
	} {
		p := Path{LocalCPU: 0, RemoteCPU: 1, RemoteCPUs: []int{2}}
		if err := p.Bind([]spec.Setting{{End: c.end, Knob: "cpu", Value: c.value}, setting(spec.EndBoth, "1500")}); err != nil {
			t.Fatal(err)
		}
		local, remote := append([]int{p.LocalCPU}, p.LocalCPUs...), append([]int{p.RemoteCPU}, p.RemoteCPUs...)
		if !slices.Equal(local, c.local) || !slices.Equal(remote, c.remote) {
			t.Errorf("%s at %s: %v and %v", c.value, c.end, local, remote)
		}
	}
	if err := new(Path).Bind([]spec.Setting{{End: spec.EndBoth, Knob: "cpu", Value: "x"}}); err == nil {
		t.Error("CPU x is accepted")
	}
}

// Settings of a link are for paths that are made by them.
func TestLinkOfNobody(t *testing.T) {
	for _, fresh := range []bool{false, true} {
		on(t, func(t *testing.T, b *bench) {
			tuned(b, []spec.Setting{{End: spec.EndBoth, Knob: "link", Value: "veth"}}, []spec.Setting{{End: spec.EndBoth, Knob: "link", Value: "ether"}})
			b.path = func(p *Path) { p.Fresh = fresh }
			err := Run(t.Context(), b.cfg)
			if fresh != (err == nil) || err != nil && !strings.Contains(err.Error(), "only a lab has a link") {
				t.Errorf("fresh %v: %v", fresh, err)
			}
		})
	}
}
