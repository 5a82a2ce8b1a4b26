package counters

import "netdelta/internal/result"

// table is every source, in the order in which they are told.
var table = []row{
	{result.SourceCPU, "CPU time by kind and CPU, context switches (/proc/stat)", true, false, true, openCPU},
	{result.SourceIdle, "time that each CPU was idle, exactly (/proc/timer_list, root)", true, false, true, openIdle},
	{result.SourceThreads, "the worker's threads: CPU time, waiting for a CPU, switches", true, false, true, openThreads},
	{result.SourceInterrupts, "interrupts by line and CPU (/proc/interrupts)", true, false, false, openInterrupts},
	{result.SourceSoftirqs, "softirqs by kind and CPU (/proc/softirqs)", true, false, false, openSoftirqs},
	{result.SourceSoftnet, "packets that the stack took in, dropped, put off (/proc/net/softnet_stat)", true, true, false, openSoftnet},
	{result.SourceDevice, "the path's interface: packets, bytes, drops, errors, speed, offloads", true, true, false, openDevice},
	{result.SourceDriver, "what the interface's driver counts (ethtool -S)", true, true, false, openDriver},
	{result.SourceQdisc, "the interface's queueing disciplines: drops, requeues", true, true, false, openQdisc},
	{result.SourceSNMP, "IP, ICMP, UDP and TCP of the network namespace (/proc/net/snmp, netstat)", true, true, false, openSNMP},
	{result.SourceTCPInfo, "TCP_INFO of the test's connections", true, false, false, openTCPInfo},
	{result.SourceSockets, "drops and memory of the test's sockets (SO_MEMINFO)", true, true, false, openSockets},
	{result.SourceFrequency, "frequency and throttling of the CPUs (cpufreq)", true, false, false, openFrequency},
	{result.SourceClock, "steps of the machine's clock", true, true, false, openClock},
	{result.SourceCycles, "cycles and instructions of each CPU (perf events)", true, false, true, openCycles},
	{result.SourceQueues, "what waits on the path, again and again in the window (takes some of its time)", false, false, true, openQueues},
	{result.SourceBPF, "softirqs, NAPI and wake-ups, exactly (eBPF; takes some of the time that it tells of)", false, false, true, openBPF},
}

// soakRow is the source that a run asks for by a setting of its own, since it
// changes what is measured.
var soakRow = row{result.SourceSoak, "CPU time that a loop of idle priority still got", false, false, true, openSoak}
