//go:build linux

package knob

// knobs is the table. A new knob is a row here, one in package spec and a file.
var knobs = []knob{
	{"gro", openFeatures},
	{"gso", openFeatures},
	{"tso", openFeatures},
	{"lro", openFeatures},
	{"sg", openFeatures},
	{"tx-checksum", openFeatures},
	{"rx-checksum", openFeatures},
	{"feature", openFeatures},
	{"coalesce", openCoalesce},
	{"ring", openRing},
	{"channels", openChannels},
	{"threaded", openThreaded},
	{"gro_flush_timeout", openGROFlushTimeout},
	{"napi_defer_hard_irqs", openDeferHardIRQs},
	{"rps", openRPS},
	{"rps_flow_cnt", openRPSFlows},
	{"xps", openXPS},
	{"irq-affinity", openIRQAffinity},
	{"mtu", openMTU},
	{"txqueuelen", openTxQueueLen},
	{"qdisc", openQdisc},
	{"sysctl", openSysctl},
	{"congestion", openCongestion},
	{"busy_poll", openBusyPoll},
	{"governor", openGovernor},
	{"rps_sock_flow_entries", openFlowEntries},
	{"command", openCommand},
}
