package lab

import (
	"testing"

	"netdelta/internal/netlab"
	"netdelta/internal/sys"
)

// TestFactsTellWhereFramesAreHandled: what the lab binds beside the ends is told,
// and no more than that.
func TestFactsTellWhereFramesAreHandled(t *testing.T) {
	for _, c := range []struct {
		link    string
		levels  []string
		handler int
		want    string
	}{
		{netlab.Ether, []string{"inline", "kthread"}, sys.NoCPU, "local 0, remote 0, wire 0, kernel threads none"},
		{netlab.Ether, []string{"inline", "kthread"}, 0, "local 0, remote 0, wire 0, kernel threads 0"},
		{netlab.Ether, []string{"inline", "frags"}, 0, "local 0, remote 0, wire 0, kernel threads none"},
		{netlab.Ether, []string{"backlog", "kthread"}, 0, "local 0, remote 0, wire 0, kernel threads 0, backlog queue 0"},
		{netlab.Ether, []string{"backlog", "softirq"}, sys.NoCPU, "local 0, remote 0, wire 0, kernel threads none, backlog queue 0"},
		{netlab.Veth, []string{"softirq", "kthread"}, 0, "local 0, remote 0, kernel threads 0"},
	} {
		p, o := crossed(t, c.link, "udp_rr", oneKnob("rx", "context", c.levels...))
		o.CPULocal, o.CPURemote, o.CPUWire, o.CPUHandler = 0, 0, 0, c.handler
		if c.link == netlab.Veth {
			o.CPUWire = Auto
		}
		got := ""
		for _, f := range o.Facts(p) {
			if f.Name == "bound to cpu" {
				got = f.Value
			}
		}
		if got != c.want {
			t.Errorf("%s %v, handlers on %d: %q, want %q", c.link, c.levels, c.handler, got, c.want)
		}
	}
}
