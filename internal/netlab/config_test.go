package netlab

import (
	"strings"
	"testing"
	"time"

	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

func TestConfigCheck(t *testing.T) {
	for _, c := range []struct {
		cfg  LinkConfig
		want string // part of the error; empty: valid
	}{
		{LinkConfig{Kind: Ether, Context: "softirq"}, ""},
		{LinkConfig{Kind: Ether, Context: "kthread", Offload: true, MTU: 9000}, ""},
		{LinkConfig{Kind: Veth, Context: "backlog", Offload: true}, ""},
		{LinkConfig{Kind: Veth, Context: "napi-threaded", MTU: MinMTU}, ""},
		{LinkConfig{Kind: Veth, Context: "napi", Offload: true}, "backlog"},
		{LinkConfig{Kind: "wifi", Context: "softirq"}, `unknown link "wifi": valid are ether, veth`},
		{LinkConfig{Kind: Veth, Context: "uthread"}, `unknown context "uthread" of veth: valid are backlog, napi, napi-threaded`},
		{LinkConfig{Kind: Veth, Context: "softirq"}, ""},
		{LinkConfig{Kind: Veth, Context: "kthread"}, ""},
		{LinkConfig{Kind: Veth, Context: "kthread", Offload: true}, "context kthread and offload"},
		{LinkConfig{Kind: Ether, Context: "napi"}, ""},
		{LinkConfig{Kind: Ether, Context: "napi-threaded", Offload: true}, ""},
		{LinkConfig{Kind: Ether, Context: "backlog", Offload: true}, ""},
		{LinkConfig{Kind: Ether, Context: "frags", MTU: maxFragsMTU}, ""},
		{LinkConfig{Kind: Ether, Context: "frags", MTU: maxFragsMTU + 1}, "MTU 65260 is out of range of context frags: 1280 to 65259"},
		{LinkConfig{Kind: Ether, Context: ""}, "valid are inline"},
		{LinkConfig{Kind: Ether, Context: "inline", MTU: MinMTU - 1}, "MTU 1279 is out of range: 1280 to 65521"},
		{LinkConfig{Kind: Ether, Context: "inline", MTU: MaxMTU + 1}, "MTU 65522 is out of range"},
		{LinkConfig{Kind: Ether, Context: "inline", MTU: -1}, "MTU -1 is out of range"},
		{LinkConfig{Kind: Ether, Context: "inline", Wire: spec.Wire{Delay: time.Millisecond}}, ""},
		{LinkConfig{Kind: Veth, Context: "napi", Wire: spec.Wire{Delay: time.Millisecond}}, "veth with delay=1ms: a veth has no wire that could do that; use link ether"},
		{LinkConfig{Kind: Veth, Context: "napi", Wire: spec.Wire{Line: true}}, "veth with line=on"},
		{LinkConfig{Kind: Ether, Context: "inline", Wire: spec.Wire{Delay: -1}}, "out of range"},
		{LinkConfig{}, "valid are ether, veth"},
	} {
		err := c.cfg.check()
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%+v: %v", c.cfg, err)
		case c.want == "" && c.cfg.MTU == 0:
			t.Errorf("%+v: no default MTU", c.cfg)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%+v: got %v, want %q in it", c.cfg, err, c.want)
		}
	}
}

// TestCheckRefusesBeforeItProbes: what is wrong with a configuration is the
// user's to know, whatever the system can do.
func TestCheckRefusesBeforeItProbes(t *testing.T) {
	if err := Check(LinkConfig{Kind: "wifi"}); err == nil || !strings.Contains(err.Error(), "valid are") {
		t.Errorf("got %v", err)
	}
}

func TestContexts(t *testing.T) {
	for kind, want := range map[string]string{
		Ether:  "inline frags backlog softirq kthread uthread",
		Veth:   "backlog napi napi-threaded",
		"wifi": "",
	} {
		names := Contexts(kind)
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s has %q, want %q", kind, got, want)
		}
		for _, name := range names {
			if about := ContextAbout(kind, name); about == "" || strings.Contains(about, "\n") {
				t.Errorf("%s %s is about %q", kind, name, about)
			}
		}
	}
	if ContextAbout(Veth, "uthread") != "" || ContextAbout("wifi", "napi") != "" {
		t.Error("a context that is not there is about something")
	}
}

func TestBusyThreads(t *testing.T) {
	const (
		wire = "the wire's reader at host a, the wire's reader at host b"
		napi = "host a's NAPI thread, host b's NAPI thread"
	)
	for _, c := range []struct{ kind, context, want string }{
		{Ether, "inline", wire},
		{Ether, "softirq", wire},
		{Ether, "frags", wire},
		{Ether, "backlog", wire},
		{Ether, "kthread", wire + ", " + napi},
		{Ether, "uthread", wire + ", the wire's writer at host a, the wire's writer at host b"},
		{Veth, "backlog", ""},
		{Veth, "napi", ""},
		{Veth, "napi-threaded", napi},
		{Veth, "softirq", ""},
		{Veth, "kthread", napi},
		{Ether, "napi-threaded", wire + ", " + napi},
		{Ether, "irq", ""},
		{"wifi", "kthread", ""},
		{Ether, "", ""},
	} {
		if got := strings.Join(BusyThreads(c.kind, c.context), ", "); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.kind, c.context, got, c.want)
		}
	}
}

// TestContextOn: each kind knows the other's names for the like, and reports go on
// naming them as they were given.
func TestContextOn(t *testing.T) {
	for _, c := range []struct{ kind, name, want string }{
		{Veth, "napi", "napi"}, {Veth, "softirq", "napi"}, {Veth, "kthread", "napi-threaded"}, {Veth, "backlog", "backlog"},
		{Ether, "softirq", "softirq"}, {Ether, "napi", "softirq"}, {Ether, "napi-threaded", "kthread"}, {Ether, "backlog", "backlog"},
		{Veth, "inline", ""}, {Ether, "", ""}, {"wifi", "softirq", ""},
	} {
		own, ok := ContextOn(c.kind, c.name)
		if ok != (c.want != "") || ok && own != c.want {
			t.Errorf("%s %s: %q, %v, want %q", c.kind, c.name, own, ok, c.want)
		}
		if ok && ContextAbout(c.kind, c.name) != ContextAbout(c.kind, own) {
			t.Errorf("%s: %s and %s are about two things", c.kind, c.name, own)
		}
	}
}

func TestHandling(t *testing.T) {
	for _, c := range []struct {
		cfg LinkConfig
		by  string
		cpu int
	}{
		{LinkConfig{Kind: Ether, Context: "inline", HandlerCPU: 3}, "", sys.NoCPU},
		{LinkConfig{Kind: Ether, Context: "frags", HandlerCPU: 3}, "", sys.NoCPU},
		{LinkConfig{Kind: Ether, Context: "kthread", HandlerCPU: 3}, "kernel threads", 3},
		{LinkConfig{Kind: Veth, Context: "kthread", HandlerCPU: 3}, "kernel threads", 3},
		{LinkConfig{Kind: Veth, Context: "napi-threaded", HandlerCPU: sys.NoCPU, WireCPU: 1}, "kernel threads", sys.NoCPU},
		{LinkConfig{Kind: Veth, Context: "backlog", HandlerCPU: 3}, "", sys.NoCPU},
		{LinkConfig{Kind: Ether, Context: "backlog", HandlerCPU: 3, WireCPU: 2}, "backlog queue", 3},
		{LinkConfig{Kind: Ether, Context: "backlog", HandlerCPU: sys.NoCPU, WireCPU: 2}, "backlog queue", 2},
		{LinkConfig{Kind: "wifi", Context: "backlog"}, "", sys.NoCPU},
	} {
		if by, cpu := Handling(c.cfg); by != c.by || cpu != c.cpu {
			t.Errorf("%+v: %q on %d, want %q on %d", c.cfg, by, cpu, c.by, c.cpu)
		}
	}
}
