package counters

import (
	"fmt"

	"netdelta/internal/counters/bpf"
)

// bpfSource is what programs in the kernel count (package bpf). They see the
// whole machine: both hosts of a lab, and whatever else runs. They take some
// time for each event that they count, so the source is not read by default.
type bpfSource struct{ counter *bpf.Counter }

// openBPF loads the programs and attaches them, long before the window. Counts
// are, each for the machine and as "name@N" for each CPU, in nanoseconds where
// they end in "_ns":
//
//   - idle_ns, task_ns, irq_ns, softirq_ns: time in which there was nothing to
//     do, threads ran, interrupts and softirqs were handled. They have nothing
//     in common and are together all the time that went by;
//   - softirq.KIND_ns, softirq.KIND: time and runs of each kind of softirq;
//   - irqs: interrupts;
//   - napi_polls, napi_work: calls of NAPI's poll functions, and the packets
//     that they say they handled;
//   - wakeups, traffic_wakeups: threads made runnable, all, and all of the
//     worker process's;
//   - switches: changes of the thread that runs, the idle one included.
func openBPF(*Options) (source, error) {
	c, err := bpf.Open()
	if err != nil {
		return nil, reason(err)
	}
	return &bpfSource{c}, nil
}

func (s *bpfSource) take() (*sample, error) {
	cpus, at, err := s.counter.Read()
	if err != nil {
		return nil, err
	}
	x := newSample()
	x.at = at
	x.parse = func(x *sample) error {
		for i := range cpus {
			nameCPU(x.counts, &cpus[i])
		}
		return nil
	}
	return x, nil
}

// nameCPU adds what a CPU did to counts, under the names that openBPF tells.
func nameCPU(counts map[string]int64, c *bpf.CPU) {
	add := func(name string, v int64) {
		counts[name] += v
		counts[fmt.Sprintf("%s@%d", name, c.Number)] = v
	}
	var softirqs int64
	for i, s := range c.Softirqs {
		add("softirq."+bpf.Kinds[i]+"_ns", s.Time)
		add("softirq."+bpf.Kinds[i], s.Runs)
		softirqs += s.Time
	}
	add("softirq_ns", softirqs)
	add("irq_ns", c.Interrupt)
	add("irqs", c.Interrupts)
	add("idle_ns", c.Idle)
	add("task_ns", c.Task)
	add("napi_polls", c.Polls)
	add("napi_work", c.Work)
	add("wakeups", c.Wakeups)
	add("traffic_wakeups", c.OwnWakeups)
	add("switches", c.Switches)
}

func (s *bpfSource) close() error { return s.counter.Close() }
