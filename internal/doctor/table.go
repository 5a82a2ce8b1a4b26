package doctor

// rule is one thing that is looked at at each end.
type rule struct {
	code  string
	about string // what it looks at, for what is fine
	// check tells what is wrong, and whether it could be told.
	check func(*view) (found []Finding, known bool)
}

// rules is the table.
var rules = []rule{
	// What the machine does.
	{"cpu-busy", "load", busyCPUs},
	{"steal", "stolen time", stolen},
	{"cpu-throttled", "throttling", throttled},
	{"clock-step", "clock steps", clockSteps},
	{"restless", "context switches", restless},
	{"interrupts", "interrupts", interrupted},
	{"network-busy", "other traffic", networkBusy},
	{"softnet", "softnet queues", softnet},
	{"frequency-moves", "frequency", frequencyMoves},
	{"not-looked", "a quiet second", notLooked},
	// How its CPUs are set.
	{"governor", "governor", governor},
	{"idle-states", "idle states", idleStates},
	{"turbo", "turbo", turbo},
	{"smt", "SMT", smt},
	{"few-cpus", "number of CPUs", fewCPUs},
	{"cgroup-limit", "control group", groupLimit},
	{"numa", "NUMA", numa},
	{"numa-balancing", "NUMA balancing", numaBalancing},
	{"mitigations", "mitigations", mitigations},
	{"autogroup", "sharing of CPU time among sessions", autogroup},
	// How the system is set.
	{"kernel-debug", "kernel build", kernelDebug},
	{"preempt-rt", "preemption", realtime},
	{"virtual-machine", "bare metal", virtual},
	{"clock-source", "clock source", clockSource},
	{"clock-unsynchronised", "clock synchronisation", clockKept},
	{"swap", "swap", swap},
	{"huge-pages", "huge pages", hugePages},
	{"irqbalance", "irqbalance", irqbalance},
	// Its interfaces.
	{"half-duplex", "duplex", halfDuplex},
	{"link-slow", "link speed", linkSlow},
	{"offloads-off", "offloads", offloadsOff},
	{"adaptive-coalescing", "adaptive coalescing", adaptive},
	{"coalescing", "coalescing", coalescing},
	{"rings-small", "rings", rings},
	{"one-irq-cpu", "interrupt affinity", oneIRQCPU},
	{"rps", "RPS", rps},
	{"qdisc", "queueing discipline", qdisc},
	{"virtual-device", "kind of interface", virtualDevice},
	{"xdp", "XDP", xdp},
	// How its network is set.
	{"socket-buffers", "socket buffers", socketBuffers},
	{"tcp-buffers", "TCP buffers", tcpBuffers},
	{"tcp-options", "TCP options", tcpOptions},
	{"netdev-budget", "softirq budget", budget},
	{"backlog", "backlog", backlog},
	{"busy-poll", "busy polling", busyPoll},
	{"packet-filter", "packet filters", packetFilter},
	{"conntrack", "connection tracking", conntrack},
	// What this user may do.
	{"memlock", "memory locking", memlock},
	{"ping-group", "ICMP sockets", pingGroup},
	{"no-privilege", "privileges for exact counters", noPrivilege},
}

// pathRule is one thing that is looked at of both ends together.
type pathRule struct {
	code  string
	check func(*Input) []Finding
}

// pathRules is the table.
var pathRules = []pathRule{
	{"loopback", loopback},
	{"one-machine", oneMachine},
	{"mtu-differs", mtuDiffers},
	{"versions-differ", versionsDiffer},
}

// Rule is a row of the tables, for people.
type Rule struct{ Code, About string }

// Rules returns what is looked at, in the tables' order.
func Rules() []Rule {
	var all []Rule
	for _, r := range rules {
		all = append(all, Rule{r.code, r.about})
	}
	for _, r := range pathRules {
		all = append(all, Rule{r.code, "path"})
	}
	return all
}
