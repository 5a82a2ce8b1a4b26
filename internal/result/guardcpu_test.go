package result

import (
	"testing"
	"time"
)

// busy has a CPU do nothing but work of a kind within the window.
func busy(e *End, cpu, kind string, idle int64) {
	ticks := of(e, SourceCPU).Counts
	ticks[cpu+"."+kind] = 1e9 - idle
	ticks[cpu+".idle"], of(e, SourceIdle).Counts[cpu+".idle"] = idle, idle
}

// works has the end's first traffic thread be at work for so long, with so much
// of it in the program's own code.
func works(e *End, run, own int64) {
	of(e, SourceThreads).Counts["traffic0.run_ns"] = run
	e.Counts[countUser], e.Counts[countSystem] = own, run-own
	busy(e, "cpu0", "system", 1e9-run)
}

func oneMachine(x *Trial, shared bool) {
	x.Local.Counters.OneMachine, x.Remote.Counters.OneMachine, x.Remote.Counters.Shared = true, true, shared
}

var cpuCases = []guardCase{
	{"a thread with time left", "tcp_stream", func(x *Trial) { works(&x.Local, 969e6, 900e6) }, nil},
	{"a thread without, its own code", "tcp_stream", func(x *Trial) { works(&x.Local, 970e6, 776e6) },
		[]string{"tool-bound: at the local end a traffic thread was at work for 97% of the window, with 80% of its time in the program's own code"}},
	{"a thread without, the kernel's", "tcp_stream", func(x *Trial) { works(x.Remote, 1000e6, 50e6) },
		[]string{"tool-bound: at the remote end a traffic thread was at work for 100% of the window, with 5% of its time in the program's own code and the rest in the kernel's"}},
	{"a thread of which only its time is known", "tcp_stream", func(x *Trial) {
		of(&x.Local, SourceThreads).Counts["traffic3.run_ns"] = 1000e6
	}, []string{"tool-bound: at the local end a traffic thread was at work for 100% of the window"}},
	{"on one machine the kernel's work is what there is", "tcp_stream", func(x *Trial) { works(&x.Local, 1000e6, 50e6); oneMachine(x, false) },
		[]string{"one-machine: CPU figures of an end are of the CPUs that it is bound to"}},
	{"the tool's own work is not", "tcp_stream", func(x *Trial) { works(&x.Local, 1000e6, 900e6); oneMachine(x, true) },
		[]string{"one-machine: CPU figures of the local end are of all CPUs, and so of both ends", "tool-bound: 90% of its time in the program's own code"}},
	{"one that spins", "tcp_rr busypoll=50", func(x *Trial) { works(&x.Local, 1000e6, 50e6) }, nil},
	{"one that keeps its rate", "udp_rr rate=1000", func(x *Trial) {
		works(&x.Local, 1000e6, 900e6)
		x.Local.Counts[CountSlots], x.Local.Counts[CountMissed] = 1000, 20
	}, nil},
	{"one that misses its rate", "udp_rr rate=1000", func(x *Trial) {
		works(&x.Local, 1000e6, 900e6)
		x.Local.Counts[CountSlots], x.Local.Counts[CountMissed] = 1000, 21
	}, []string{"tool-bound: at the local end"}},

	{"softirqs with time left", "udp_stream", func(x *Trial) { busy(x.Remote, "cpu1", "softirq", 21e6) }, nil},
	{"softirqs without", "udp_stream", func(x *Trial) { busy(x.Remote, "cpu1", "softirq", 20e6) },
		[]string{"cpu-saturated: at the remote end a CPU was busy for 98% of the window, and for 98% of it with interrupts and softirqs"}},
	{"softirqs by eBPF", "udp_stream", func(x *Trial) {
		busy(x.Remote, "cpu1", "user", 0)
		x.Remote.Counters.Readings = append(x.Remote.Counters.Readings, Reading{Source: SourceBPF, Elapsed: time.Second,
			Counts: map[string]int64{"softirq_ns@1": 590e6, "irq_ns@1": 10e6}})
	}, []string{"cpu-saturated: for 60% of it with interrupts and softirqs"}},
	{"others", "udp_rr", func(x *Trial) { busy(&x.Local, "cpu1", "user", 0) },
		[]string{"cpu-saturated: at the local end a CPU was busy for 100% of the window, and for 100% of it with other things than interrupts and the test's threads"}},
	{"a thread and the softirqs that the kernel counts beside it", "udp_stream", func(x *Trial) {
		of(x.Remote, SourceThreads).Counts["traffic0.run_ns"] = 600e6
		busy(x.Remote, "cpu0", "softirq", 0)
		of(x.Remote, SourceCPU).Counts["cpu0.softirq"], of(x.Remote, SourceCPU).Counts["cpu0.system"] = 400e6, 600e6
	}, nil},
	{"softirqs beside a thread that is as busy", "udp_stream", func(x *Trial) {
		busy(x.Remote, "cpu0", "softirq", 10e6)
		busy(x.Remote, "cpu1", "system", 0)
		r := of(x.Remote, SourceThreads)
		r.Counts["traffic0.run_ns"], r.Levels["traffic0.cpu"] = 960e6, 1
	}, []string{"cpu-saturated: busy for 99% of the window, and for 99% of it with interrupts and softirqs"}},
	{"all of it the test's", "udp_rr", func(x *Trial) {
		busy(&x.Local, "cpu0", "user", 0)
		of(&x.Local, SourceThreads).Counts["traffic0.run_ns"] = 800e6
	}, nil},
	{"a CPU that is offline", "udp_rr", func(x *Trial) {
		for _, s := range []string{SourceCPU, SourceIdle} {
			delete(of(&x.Local, s).Counts, "cpu1.idle")
		}
	}, nil},
	{"loops of the test's own", "wake busy=loaded", func(x *Trial) { busy(&x.Local, "cpu1", "user", 0) }, nil},
	{"others beside a test without", "wake", func(x *Trial) { busy(&x.Local, "cpu1", "user", 0) },
		[]string{"cpu-saturated: with other things than interrupts and the test's threads"}},
	{"one machine's CPUs are the test's", "udp_rr", func(x *Trial) { busy(&x.Local, "cpu1", "user", 0); oneMachine(x, false) },
		[]string{"one-machine: both ends"}},

	{"a little waiting", "tcp_rr", func(x *Trial) { of(&x.Local, SourceThreads).Counts["traffic0.run_delay_ns"] = 50e6 }, nil},
	{"waiting", "tcp_rr", func(x *Trial) { of(&x.Local, SourceThreads).Counts["traffic0.run_delay_ns"] = 51e6 },
		[]string{"cpu-contended: at the local end a traffic thread was ready for 5% of the window and had no CPU"}},
	{"waiting that the test asks for", "wake at=same", func(x *Trial) { of(&x.Local, SourceThreads).Counts["traffic0.run_delay_ns"] = 500e6 }, nil},
	{"waiting that is known of", "tcp_rr", func(x *Trial) {
		of(&x.Local, SourceThreads).Counts["traffic0.run_delay_ns"] = 500e6
		x.Warnings = []Warning{{Code: oversubscribed}}
	}, nil},

	{"a little steal", "tcp_rr", func(x *Trial) { of(&x.Local, SourceCPU).Counts["cpu1.steal"] = 20e6 }, nil},
	{"steal", "tcp_rr", func(x *Trial) { of(&x.Local, SourceCPU).Counts["cpu1.steal"] = 30e6 },
		[]string{"steal: at the local end the virtual machine's host took away 3% of a CPU's time"}},
	{"of one CPU among many", "tcp_rr", func(x *Trial) {
		for cpu := range 64 {
			of(&x.Local, SourceCPU).Counts[cpuCount(cpu, "idle")] = 1000e6
		}
		of(&x.Local, SourceCPU).Counts["cpu1.steal"] = 500e6
	}, []string{"steal: took away 50% of a CPU's time"}},
	{"one tick of a short window", "tcp_rr", func(x *Trial) {
		r := of(&x.Local, SourceCPU)
		r.Elapsed, r.Counts["cpu1.steal"] = 100*time.Millisecond, 10e6
	}, nil},

	{"page faults", "tcp_stream", func(x *Trial) { of(x.Remote, SourceThreads).Counts["traffic0.major_faults"] = 1 },
		[]string{"page-faults: at the remote end traffic threads waited for memory to be read from disk (major page faults: 1)"}},

	{"a quiet machine", "tcp_rr", func(x *Trial) { baseline(&x.Local, 25e6) }, nil},
	{"a busy machine", "tcp_rr", func(x *Trial) { baseline(&x.Local, 26e6) },
		[]string{"busy-before: at the local end the CPUs were busy for 5% of the time before the test began"}},
	{"the end of a tick", "tcp_rr", func(x *Trial) {
		baseline(&x.Local, 26e6)
		x.Local.Counters.Baseline[0].Source = SourceCPU
		x.Local.Counters.Baseline[0].Counts["cpu0.user"] = 44e6
		x.Local.Counters.Baseline[0].Levels = map[string]int64{"resolution_ns": 10e6}
	}, nil},

	{"ticks in a long window", "tcp_rr", func(x *Trial) { onlyTicks(&x.Local, 200*time.Millisecond) }, nil},
	{"ticks in a short one", "tcp_rr", func(x *Trial) { onlyTicks(&x.Local, 100*time.Millisecond) },
		[]string{"coarse-cpu: at the local end CPU time is known no finer than 10% of the window"}},

	{"a frequency that moves a little", "tcp_rr", func(x *Trial) { of(&x.Local, SourceFrequency).Was["cpu0.khz"] = 1_905_000 }, nil},
	{"of a CPU that rests", "tcp_rr", func(x *Trial) { of(&x.Local, SourceFrequency).Was["cpu1.khz"] = 800_000 }, nil},
	{"of a CPU that works for the kernel", "tcp_rr", func(x *Trial) {
		busy(&x.Local, "cpu1", "softirq", 500e6)
		of(&x.Local, SourceFrequency).Was["cpu1.khz"] = 800_000
	}, []string{"frequency: from 800 to 2000 MHz"}},
	{"a frequency that rises", "tcp_rr", func(x *Trial) { of(&x.Local, SourceFrequency).Was["cpu0.khz"] = 1_000_000 },
		[]string{"frequency: at the local end a CPU's frequency went from 1000 to 2000 MHz within the window"}},
	{"of a CPU that is none of the end's", "tcp_rr", func(x *Trial) {
		r := of(&x.Local, SourceFrequency)
		r.Was["cpu7.khz"], r.Levels["cpu7.khz"] = 1_000_000, 2_000_000
	}, nil},
	{"throttling", "tcp_rr", func(x *Trial) { of(&x.Local, SourceFrequency).Counts["cpu0.throttles"] = 3 },
		[]string{"throttled: at the local end CPUs were throttled within the window (times: 3)"}},

	{"slewing", "tcp_rr", func(x *Trial) { of(x.Remote, SourceClock).Counts["step_ns"] = 1e6 }, nil},
	{"a step", "tcp_rr", func(x *Trial) { of(x.Remote, SourceClock).Counts["step_ns"] = 1e6 + 1 },
		[]string{"clock-step: at the remote end the wall clock moved by 1.00 ms against the monotonic one"}},
	{"a step that the coordinator saw", "tcp_rr", func(x *Trial) {
		x.Warnings = []Warning{{Code: GuardClockStep}}
		of(&x.Local, SourceClock).Counts["step_ns"] = 5e6
	}, nil},
}

func baseline(e *End, busyOfBoth int64) {
	e.Counters.Baseline = []Reading{{Source: SourceIdle, Elapsed: 250 * time.Millisecond,
		Counts: map[string]int64{"cpu0.idle": 250e6 - busyOfBoth, "cpu1.idle": 250e6}}}
}

// onlyTicks leaves the end without exact idle time.
func onlyTicks(e *End, window time.Duration) {
	of(e, SourceIdle).Source = "other"
	r := of(e, SourceCPU)
	r.Elapsed = window
	r.Counts = map[string]int64{"cpu0.idle": int64(window), "cpu1.idle": int64(window)}
}

func TestCPUGuards(t *testing.T) { checkGuards(t, cpuCases) }
