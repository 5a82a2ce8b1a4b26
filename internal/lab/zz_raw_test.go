package lab

import (
	"fmt"
	"os"
	"testing"
	"time"

	"netdelta/internal/spec"
)

func TestZZRaw(t *testing.T) {
	for _, l := range []string{"ether", "veth"} {
		e, _ := Find("rx-context")
		ts, _ := spec.ParseTests("udp_stream size=1KiB,udp_stream size=4KiB", nil)
		o := Options{Link: l, Blocks: 2, Window: 50 * time.Millisecond, Warmup: 12 * time.Millisecond, Tests: ts, Margin: 0.02, CPULocal: Auto, CPURemote: Auto, CPUWire: Auto}
		if l == "ether" {
			o.Levels = []string{"softirq", "kthread", "inline", "uthread"}
		}
		p, err := e.Plan(o)
		if err != nil {
			t.Fatal(err)
		}
		trials, err := Run(t.Context(), p, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range trials {
			fmt.Fprintln(os.Stderr, x.Variant, x.Test, x.Local.Messages, x.Local.Counts, x.Remote.Counts, x.Path.Counts)
		}
	}
}
