package spec

import (
	"strings"
	"testing"
)

const sending = `factors:
  send: {set: param.send, levels: [read+write, sendfile]}
  mtu: {set: mtu, levels: [1500, 9000], condition: true}
  load: {set: sysctl.vm.swappiness, levels: [60], condition: on}
tests: tcp_stream
`

// A condition may have one level, and keeps a baseline like any factor.
func TestConditions(t *testing.T) {
	d, err := ParseDocument([]byte(sending))
	if err != nil {
		t.Fatal(err)
	}
	p := &d.Plan
	conditions, compared := Split(p.Factors)
	if nameList(conditions) != "mtu, load" || nameList(compared) != "send" || p.Baseline["mtu"] != "1500" || len(p.Variants()) != 4 {
		t.Errorf("conditions %v, compared %v, baseline %v, %d variants", conditions, compared, p.Baseline, len(p.Variants()))
	}
	if got := (Variant{"send": "sendfile", "mtu": "9000", "load": "60"}).Of(conditions).Key(conditions); got != "mtu=9000 load=60" {
		t.Errorf("got %q", got)
	}
}

func TestConditionsRefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"factors:\n  mtu: {set: mtu, levels: [1500, 9000], condition: true}\n", "line 2, column 52: every factor is a condition, so nothing would be compared: make one of mtu none"},
		{"factors:\n  gro: {set: gro, levels: [on]}\n", "two levels or more"},
		{sending + "fraction: 1/2\n", "fraction 1/2 of 1 factors is too small"},
		{sending + "variants: [{send: read+write, mtu: 1500, load: 60}, {send: sendfile, mtu: 1500, load: 60}, {send: sendfile, mtu: 9000, load: 60}]\n",
			`"send=read+write" is chosen with mtu=1500 load=60 and not with mtu=9000 load=60: within each condition the same variants are compared`},
		{sending + "variants: [{send: read+write, mtu: 1500, load: 60}, {send: read+write, mtu: 9000, load: 60}, {send: sendfile, mtu: 9000, load: 60}]\n",
			`"send=sendfile" is chosen with mtu=9000 load=60 and not with mtu=1500 load=60`},
		{sending + "variants: [{send: sendfile, mtu: 1500, load: 60}, {send: sendfile, mtu: 9000, load: 60}]\n", `the baseline, "send=read+write", is none of the chosen variants`},
	} {
		if _, err := ParseDocument([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngives %v, want %q", c.text, err, c.want)
		}
	}
}

// A condition of no level at all is none.
func TestConditionNeedsALevel(t *testing.T) {
	d, err := ParseDocument([]byte(sending))
	if err != nil {
		t.Fatal(err)
	}
	p := d.Plan
	for i := range p.Factors {
		if p.Factors[i].Name == "load" {
			p.Factors[i].Levels, p.Factors[i].Settings = nil, nil
		}
	}
	if err := p.Validate(); err == nil || !strings.Contains(err.Error(), "got 0") {
		t.Errorf("got %v", err)
	}
}

// A fraction is of what is compared: each condition has the same one.
func TestFractionWithinConditions(t *testing.T) {
	d, err := ParseDocument([]byte(`fraction: 1/2
factors:
  mtu: {set: mtu, levels: [1500, 4000, 9000], condition: true}
  gro: {set: gro, levels: [on, off]}
  tso: {set: tso, levels: [on, off]}
  threads: {set: threaded, levels: [off, on]}
`))
	if err != nil {
		t.Fatal(err)
	}
	_, compared := Split(d.Plan.Factors)
	in := map[string]string{}
	for _, v := range d.Plan.Chosen {
		in[v["mtu"]] += v.Key(compared) + "; "
	}
	if len(d.Plan.Chosen) != 12 || len(in) != 3 || in["1500"] != in["4000"] || in["1500"] != in["9000"] {
		t.Errorf("chosen %v", in)
	}
}
