package spec

import (
	"slices"
	"strings"
	"testing"
)

func TestKnobTable(t *testing.T) {
	for i, k := range Knobs() {
		if k.Name == "" || k.Form == "" || k.About == "" || k.check == nil || (k.Arg != "") != (k.checkArg != nil) {
			t.Errorf("row %d, %q, is incomplete", i, k.Name)
		}
		if strings.ContainsAny(k.Name, ".@:/") {
			t.Errorf("knob %q has a sign in its name that references have", k.Name)
		}
		if slices.IndexFunc(Knobs(), func(o Knob) bool { return o.Name == k.Name }) != i {
			t.Errorf("knob %s is there twice", k.Name)
		}
	}
}

func TestKnobOf(t *testing.T) {
	for _, c := range []struct{ name, row, arg, wantErr string }{
		{"gro", "gro", "", ""},
		{"coalesce.rx-usecs", "coalesce", "rx-usecs", ""},
		{"sysctl.net.ipv4.tcp_rmem", "sysctl", "net.ipv4.tcp_rmem", ""},
		{"feature.tx-udp-segmentation", "feature", "tx-udp-segmentation", ""},
		{"param.send", "param", "send", ""},
		{"grro", "", "", `unknown knob "grro": valid are gro, `},
		{"", "", "", `unknown knob ""`},
		{strings.Repeat("x", 10000), "", "", "unknown knob"},
		{"gro.x", "", "", `knob gro takes nothing behind a dot, got "x"`},
		{"gro.", "", "", "takes nothing behind a dot"},
		{"coalesce", "", "", "knob coalesce needs to know which: write coalesce.NAME"},
		{"coalesce.", "", "", "needs to know which"},
		{"coalesce.rx-usec", "", "", `knob coalesce: "rx-usec" is none: valid are adaptive-rx`},
		{"ring.up", "", "", "valid are rx, tx, rx-mini, rx-jumbo"},
		{"feature.../x", "", "", "is no name"},
		{"sysctl.net..x", "", "", "is no sysctl"},
		{"sysctl.net/core/x", "", "", "is no sysctl"},
		{"sysctl...etc.passwd", "", "", "is no sysctl"},
		{"sysctl.net", "", "", "write the whole name"},
		{"param.sendd", "", "", "is no parameter of a test"},
	} {
		k, arg, err := knobOf(c.name)
		if k.Name != c.row || arg != c.arg || (err == nil) != (c.wantErr == "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
			t.Errorf("%.40s: got %q, %q, %v", c.name, k.Name, arg, err)
		}
		if err != nil && len(err.Error()) > 1500 {
			t.Errorf("%.40s: the error has %d bytes", c.name, len(err.Error()))
		}
	}
}

func TestKnobValues(t *testing.T) {
	for _, c := range []struct{ knob, good, bad string }{ // separated by |
		{"gro", "on|off", "ON|1|true||default"},
		{"coalesce.adaptive-rx", "on|off", "1|"},
		{"coalesce.rx-usecs", "0|64|4294967295", "-1|on|4294967296|064|+1| 1"},
		{"ring.rx", "0|4096", "-1|1k|99999999999999999999"},
		{"channels.combined", "1|65536", "65537|x"},
		{"gro_flush_timeout", "0|20000", "-1|20us"},
		{"napi_defer_hard_irqs", "0|2147483647", "2147483648"},
		{"rps", "none|0|0-3|0,2,4-7", "|0-|3-0|0,0|1-3,2|65536|a|-1|0,|0-99999999999"},
		{"irq-affinity", "0|1-2", "none|"},
		{"mtu", "68|1500|65536", "67|65537"},
		{"txqueuelen", "0|1000", "-1"},
		{"qdisc", "fq|fq limit 1000|tbf rate 1mbit burst 32kbit latency 400ms|pfifo_fast", "|fq  limit 1| fq|fq;reboot|-x|fq $(x)|fq ../x"},
		{"sysctl.net.ipv4.tcp_rmem", "1|4096 8192 8192|a\tb", "| 1|1\n2"},
		{"congestion", "cubic|bbr", "../x||a b|averyverylongname"},
		{"busy_poll", "0|50", "-1|1000001"},
		{"governor", "performance", "per/formance|"},
		{"cpu", "none|3|0,2|4-7", "|x|0-300"},
		{"param.send", "write|sendfile|default", "fax|"},
		{"param.size", "1|1KiB", "0|2GiB|"},
		{"param.fifo", "1|99|default", "0|100"},
		{"link", "veth|ether", "|wire"},
		{"context", "napi|napi-threaded", "|a b"},
	} {
		for _, v := range strings.Split(c.good, "|") {
			if err := (Setting{End: EndBoth, Knob: c.knob, Value: v}).Validate(); (err == nil) == strings.ContainsAny(v, "\t") {
				t.Errorf("%s=%s: %v", c.knob, v, err)
			}
		}
		for _, v := range strings.Split(c.bad, "|") {
			if err := (Setting{End: EndBoth, Knob: c.knob, Value: v}).Validate(); err == nil {
				t.Errorf("%s=%q is accepted", c.knob, v)
			}
		}
	}
}

func TestParseCPUs(t *testing.T) {
	cpus, err := ParseCPUs("5,0-2")
	if err != nil || !slices.Equal(cpus, []int{5, 0, 1, 2}) {
		t.Errorf("got %v, %v", cpus, err)
	}
	if cpus, err := ParseCPUs(None); err != nil || cpus != nil {
		t.Errorf("none: got %v, %v", cpus, err)
	}
}

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"gro", "gro", 0}, {"gro", "", 3}, {"", "gro", 3}, {"gro", "grow", 1}, {"kitten", "sitting", 3}} {
		if got := edits(c.a, c.b); got != c.want {
			t.Errorf("%q, %q: got %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
