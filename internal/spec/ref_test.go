package spec

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseRef(t *testing.T) {
	for _, c := range []struct {
		ref, end, device, knob, wantErr string
	}{
		{"gro", EndBoth, "", "gro", ""},
		{"gro@remote", EndRemote, "", "gro", ""},
		{"gro@both", EndBoth, "", "gro", ""},
		{"eth0.gro", EndBoth, "eth0", "gro", ""},
		{"eth0.100.gro@local", EndLocal, "eth0.100", "gro", ""},
		{"eth0.100.ring.rx", EndBoth, "eth0.100", "ring.rx", ""},
		{"a.b.c.feature.rx-gro-hw", EndBoth, "a.b.c", "feature.rx-gro-hw", ""},
		{"sysctl.net.ipv4.conf.all.x", EndBoth, "", "sysctl.net.ipv4.conf.all.x", ""},
		{"sysctl.net.core.gro", EndBoth, "", "sysctl.net.core.gro", ""},
		{"cpu@local", EndLocal, "", "cpu", ""},
		{"command@remote", EndRemote, "", "command", ""},
		{"param.send", EndBoth, "", "param.send", ""},
		{"", "", "", "", `unknown knob ""`},
		{"@local", "", "", "", `unknown knob ""`},
		{"gro@", "", "", "", `end "" is none`},
		{"gro@here", "", "", "", `end "here" is none: valid are local, remote, both`},
		{"eth0.grow", "", "", "", `unknown knob "eth0.grow"`},
		{"eth0.ring.up", "", "", "", "knob ring"},
		{"eth0.gro.x", "", "", "", "takes nothing behind a dot"},
		{"eth0.cpu", "", "", "", "leave \"eth0\" out"},
		{"eth0.congestion", "", "", "", "leave \"eth0\" out"},
		{"../x.gro", "", "", "", "no interface's name"},
		{"a@b.gro", "", "", "", `end "b.gro" is none`},
		{"averyveryverylongname.gro", "", "", "", "longer than an interface's name"},
		{"param.send@local", "", "", "", "both ends share it"},
		{"link@remote", "", "", "", "both ends share it"},
		{strings.Repeat("x.", 1000) + "gro", "", "", "", "longer than 512 bytes"},
	} {
		got, err := ParseRef(c.ref)
		want := Setting{End: c.end, Device: c.device, Knob: c.knob}
		if (err == nil) != (c.wantErr == "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
			t.Errorf("%.40q: %v", c.ref, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.40q: %s", c.ref, diff)
		} else if err == nil && got.Reference() != strings.TrimSuffix(c.ref, "@both") {
			t.Errorf("%.40q is written %q", c.ref, got.Reference())
		}
	}
}

func TestParseSet(t *testing.T) {
	gro := func(v string) []Setting {
		return []Setting{{End: EndRemote, Device: "eth0", Knob: "gro", Value: v}}
	}
	got, err := ParseSet("rx=eth0.gro@remote:on,off,on-again")
	want := Factor{Name: "rx", Levels: []string{"on", "off", "on-again"},
		Settings: map[string][]Setting{"on": gro("on"), "off": gro("off"), "on-again": gro("on")}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, %s", err, diff)
	}
	if f, err := ParseSet("steer=rps:none,0-1"); err != nil || f.Settings["0-1"][0].Value != "0-1" {
		t.Errorf("CPUs: got %v, %v", f, err)
	}
	for text, want := range map[string]string{
		"":                           "is no factor: write NAME=",
		"gro":                        "is no factor",
		"x=gro":                      "has no values",
		"=gro:on,off":                "the name is empty",
		"a b=gro:on,off":             "has ' ' in it",
		"x=:on,off":                  `unknown knob ""`,
		"x=grow:on,off":              `unknown knob "grow": valid are gro`,
		"x=gro:on":                   "two levels or more",
		"x=gro:":                     "two levels or more",
		"x=gro:on,":                  "the name is empty",
		"x=gro:on,on":                "named twice (on-again",
		"x=gro:on,of":                `level of: knob gro: "of" is none`,
		"x=gro:on,off-again":         "there is no off",
		"x=qdisc:fq,fq limit 10":     "needs a plan file",
		"x=command:a,b":              "use a plan file",
		"x=sysctl.net.core.x:a=1,b":  "needs a plan file",
		"x=eth0.gro@remote:on:1,off": `"on:1" is none`,
	} {
		if _, err := ParseSet(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func FuzzParseSet(f *testing.F) {
	for _, s := range []string{"rx=eth0.gro@remote:on,off", "a=sysctl.net.core.x:1,2", "x=rps:none,0-3", "c=ring.rx:64,128,64-again", "=:,@."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		factor, err := ParseSet(s)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("%q: the error is more than a line: %q", s, err)
			}
			return
		}
		p := plan()
		p.Factors, p.Baseline = []Factor{factor}, Variant{factor.Name: factor.Levels[0]}
		if err := p.Validate(); err != nil && !strings.Contains(err.Error(), "test") {
			t.Errorf("%q makes a factor that is not valid: %v", s, err)
		}
		for _, set := range factor.Settings {
			again, err := ParseRef(set[0].Reference())
			if again.Value = set[0].Value; err != nil || again != set[0] {
				t.Errorf("%q: %+v is read again as %+v, %v", s, set[0], again, err)
			}
		}
	})
}
