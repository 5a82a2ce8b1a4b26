package counters

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/counters/bpf"
)

// TestBPFNames: counts of the machine are those of its CPUs together.
func TestBPFNames(t *testing.T) {
	first := bpf.CPU{Number: 0, Idle: 1, Task: 2, Interrupt: 3, Interrupts: 4, Polls: 5, Work: 6, Wakeups: 7, OwnWakeups: 8, Switches: 9}
	first.Softirqs[2] = bpf.Softirq{Time: 10, Runs: 11}
	first.Softirqs[3] = bpf.Softirq{Time: 12, Runs: 13}
	second := first
	second.Number = 17
	got := map[string]int64{}
	nameCPU(got, &first)
	nameCPU(got, &second)
	want := map[string]int64{}
	for name, v := range map[string]int64{
		"idle_ns": 1, "task_ns": 2, "irq_ns": 3, "irqs": 4, "napi_polls": 5, "napi_work": 6, "wakeups": 7,
		"traffic_wakeups": 8, "switches": 9, "softirq_ns": 22,
		"softirq.net_tx_ns": 10, "softirq.net_tx": 11, "softirq.net_rx_ns": 12, "softirq.net_rx": 13,
	} {
		want[name], want[name+"@0"], want[name+"@17"] = 2*v, v, v
	}
	for name, v := range got {
		if v == 0 {
			delete(got, name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
