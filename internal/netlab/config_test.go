package netlab

import (
	"strings"
	"testing"
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
		{LinkConfig{Kind: Veth, Context: "softirq"}, `unknown context "softirq" of veth: valid are backlog, napi, napi-threaded`},
		{LinkConfig{Kind: Ether, Context: ""}, "valid are inline"},
		{LinkConfig{Kind: Ether, Context: "inline", MTU: MinMTU - 1}, "MTU 1279 is out of range: 1280 to 65521"},
		{LinkConfig{Kind: Ether, Context: "inline", MTU: MaxMTU + 1}, "MTU 65522 is out of range"},
		{LinkConfig{Kind: Ether, Context: "inline", MTU: -1}, "MTU -1 is out of range"},
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
		Ether:  "inline softirq kthread uthread",
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
	if ContextAbout(Veth, "softirq") != "" || ContextAbout("wifi", "napi") != "" {
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
		{Ether, "kthread", wire + ", " + napi},
		{Ether, "uthread", wire + ", the wire's writer at host a, the wire's writer at host b"},
		{Veth, "backlog", ""},
		{Veth, "napi", ""},
		{Veth, "napi-threaded", napi},
		{Veth, "kthread", ""},
		{Ether, "napi-threaded", ""},
		{"wifi", "kthread", ""},
		{Ether, "", ""},
	} {
		if got := strings.Join(BusyThreads(c.kind, c.context), ", "); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.kind, c.context, got, c.want)
		}
	}
}
