package doctor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"netdelta/internal/result"
)

// facts makes a list of names and values.
func facts(pairs ...string) []result.Fact {
	var all []result.Fact
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, result.Fact{Name: pairs[i], Value: pairs[i+1]})
	}
	return all
}

// good are the facts of a host with which nothing is wrong.
func good() []result.Fact {
	return facts("system", "linux/amd64", "kernel", "6.18", "cpu", "A", "cpus", "8 usable", "kernel build", "#1 SMP PREEMPT_DYNAMIC", "kernel debug", "none",
		"cpu topology", "sockets 1, cores 8, threads 8, SMT off", "governor", "performance", "idle states", "C1, 2 us to wake", "turbo", "off",
		"frequency driver", "intel_pstate", "mitigation spectre_v1", "Vulnerable", "numa balancing", "off", "huge pages", "madvise", "swap", "none",
		"kernel.sched_autogroup_enabled", "0", "clock source", "tsc", "clock synchronised", "yes", "user", "root", "capabilities", "net_admin net_raw sys_admin ipc_lock", "memory that can be locked", "all",
		"exact idle time", "yes", "control group cpus", "0-7", "net.core.rmem_max", "4194304", "net.core.wmem_max", "4194304", "net.ipv4.tcp_rmem", "4096 131072 33554432",
		"net.ipv4.tcp_wmem", "4096 16384 4194304", "net.ipv4.tcp_sack", "1", "net.ipv4.tcp_window_scaling", "1", "net.core.netdev_budget", "300",
		"net.core.netdev_budget_usecs", "8000", "net.core.netdev_max_backlog", "1000", "net.core.busy_poll", "0", "net.core.busy_read", "0",
		"net.ipv4.ping_group_range", "1 0", "device eth0", "mlx5_core, mtu 1500", "eth0 offloads", "rx-checksum tx-checksum sg tso gso gro",
		"eth0 speed", "25000 Mbit/s full duplex", "eth0 top speed", "25000 Mbit/s", "eth0 rings", "rx 1024 of 8192, tx 1024 of 8192",
		"eth0 coalescing", "adaptive-rx off, adaptive-tx off, rx-usecs 3", "eth0 irq cpus", "0 1 2 3", "eth0 rps", "off on all 4",
		"eth0 qdisc", "mq, 4 fq_codel", "eth0 queue length", "1000", "boot", "1")
}

// calm is a look at a host that does nothing.
func calm() *result.Counters {
	second := time.Second
	read := func(source string, counts map[string]int64, levels map[string]int64) result.Reading {
		return result.Reading{Source: source, Elapsed: second, Counts: counts, Levels: levels}
	}
	return &result.Counters{CPUs: []int{0, 1}, Device: "eth0", Readings: []result.Reading{
		read(result.SourceCPU, map[string]int64{"cpu0.idle": 1e9, "cpu1.idle": 1e9, "context_switches": 300, "interrupts": 500}, nil),
		read(result.SourceIdle, map[string]int64{"cpu0.idle": 999e6, "cpu1.idle": 998e6}, nil),
		read(result.SourceSoftnet, nil, nil),
		read(result.SourceDevice, map[string]int64{"rx_packets": 5, "tx_packets": 5}, nil),
		read(result.SourceFrequency, nil, map[string]int64{"cpu0.khz": 3e6, "cpu1.khz": 3e6}),
		read(result.SourceClock, map[string]int64{"step_ns": 900}, nil),
	}}
}

func host(f []result.Fact, look *result.Counters) Host {
	return Host{End: result.Local, Name: "h", Version: "1", Facts: f, Look: look, Device: "eth0"}
}

// with is good with some facts changed; "-" takes one away.
func with(pairs ...string) []result.Fact {
	all := good()
	for i := 0; i < len(pairs); i += 2 {
		all = slices.DeleteFunc(all, func(f result.Fact) bool { return f.Name == pairs[i] })
		if pairs[i+1] != "-" {
			all = append(all, result.Fact{Name: pairs[i], Value: pairs[i+1]})
		}
	}
	return all
}

func codes(r Report) []string {
	all := []string{}
	for _, f := range r.Findings {
		all = append(all, f.Code)
	}
	return all
}

// With a good host nothing is wrong, and everything is known.
func TestNothingIsWrong(t *testing.T) {
	r := Examine(Input{Hosts: []Host{host(good(), calm())}})
	if len(r.Findings) != 0 || len(r.Ends) != 1 || len(r.Ends[0].Unknown) != 0 || len(r.Ends[0].Fine) != len(rules) || r.Ends[0].LookedNS != 1e9 {
		t.Errorf("got %+v", r)
	}
}

// Each rule finds what it is for and nothing else does; a command names the
// interface and the value.
func TestFactRules(t *testing.T) {
	tried := map[string]bool{}
	for _, c := range []struct {
		code    string
		change  []string
		command string // a part of it; empty where there is none
	}{
		{"governor", []string{"governor", "powersave"}, "cpupower frequency-set -g performance"},
		{"governor", []string{"governor", "performance (0), ondemand (1)"}, "performance"},
		{"idle-states", []string{"idle states", "C6, 133 us to wake"}, "cpupower idle-set -D 20"},
		{"turbo", []string{"turbo", "on"}, "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo"},
		{"turbo", []string{"turbo", "on", "frequency driver", "acpi-cpufreq"}, "echo 0 > /sys/devices/system/cpu/cpufreq/boost"},
		{"smt", []string{"cpu topology", "sockets 1, cores 4, threads 8, SMT on"}, "smt/control"},
		{"few-cpus", []string{"cpus", "2 usable"}, ""},
		{"cgroup-limit", []string{"control group cpu limit", "1.5"}, "cgroup"},
		{"numa", []string{"numa nodes", "0: cpus 0-3; 1: cpus 4-7", "eth0 numa node", "1"}, ""},
		{"autogroup", []string{"kernel.sched_autogroup_enabled", "1"}, "sysctl -w kernel.sched_autogroup_enabled=0"},
		{"mitigations", []string{"mitigation spectre_v2", "Retpolines"}, ""},
		{"kernel-debug", []string{"kernel debug", "KASAN LOCKDEP"}, ""},
		{"preempt-rt", []string{"kernel build", "#1 SMP PREEMPT_RT"}, ""},
		{"preempt-rt", []string{"kernel options", "threadirqs"}, ""},
		{"virtual-machine", []string{"hypervisor", "KVM"}, ""},
		{"clock-source", []string{"clock source", "hpet"}, "echo tsc >"},
		{"clock-unsynchronised", []string{"clock synchronised", "no"}, "set-ntp"},
		{"swap", []string{"swap", "2048 MiB, in use"}, "swapoff -a"},
		{"huge-pages", []string{"huge pages", "always"}, "echo madvise >"},
		{"irqbalance", []string{"irqbalance", "runs"}, "systemctl stop irqbalance"},
		{"half-duplex", []string{"eth0 speed", "25000 Mbit/s half duplex"}, "ethtool -s eth0"},
		{"link-slow", []string{"eth0 speed", "1000 Mbit/s full duplex"}, "ethtool -s eth0"},
		{"offloads-off", []string{"eth0 offloads", "rx-checksum sg gso"}, "ethtool -K eth0 tso on gro on tx on"},
		{"adaptive-coalescing", []string{"eth0 coalescing", "adaptive-rx on, adaptive-tx off"}, "ethtool -C eth0 adaptive-rx off"},
		{"coalescing", []string{"eth0 coalescing", "adaptive-rx off, adaptive-tx off, rx-usecs 50"}, "ethtool -C eth0 rx-usecs 0"},
		{"rings-small", []string{"eth0 rings", "rx 256 of 4096, tx 1024 of 4096"}, "ethtool -G eth0 rx 4096"},
		{"one-irq-cpu", []string{"eth0 irq cpus", "0 on all 9"}, "/sys/class/net/eth0/device/msi_irqs"},
		{"one-irq-cpu", []string{"eth0 irq cpus", "1 on all 3", "device eth0", "virtio_net, mtu 1500"}, "/sys/class/net/eth0/device/../msi_irqs/*"},
		{"rps", []string{"eth0 rps", "f on all 4"}, "/sys/class/net/eth0/queues/rx-*"},
		{"qdisc", []string{"eth0 qdisc", "tbf"}, "tc qdisc del dev eth0 root"},
		{"virtual-device", []string{"eth0 kind", "vxlan"}, ""},
		{"virtual-device", []string{"eth0 kind", "veth"}, ""},
		{"virtual-device", []string{"eth0 member of", "bridge br0"}, ""},
		{"xdp", []string{"eth0 xdp", "a program, generic"}, "ip link set dev eth0 xdp off"},
		{"socket-buffers", []string{"net.core.rmem_max", "212992"}, "sysctl -w net.core.rmem_max=16777216"},
		{"tcp-buffers", []string{"net.ipv4.tcp_rmem", "4096 87380 174760"}, `net.ipv4.tcp_rmem='4096 87380 16777216'`},
		{"tcp-options", []string{"net.ipv4.tcp_sack", "0"}, "sysctl -w net.ipv4.tcp_sack=1"},
		{"netdev-budget", []string{"net.core.netdev_budget", "64"}, "sysctl -w net.core.netdev_budget="},
		{"backlog", []string{"net.core.netdev_max_backlog", "100"}, "sysctl -w net.core.netdev_max_backlog="},
		{"busy-poll", []string{"net.core.busy_read", "50"}, "net.core.busy_read=0"},
		{"packet-filter", []string{"nftables", "inet filter"}, "nft list ruleset"},
		{"conntrack", []string{"connection tracking", "in use"}, `nft add rule inet untracked in iifname eth0 notrack`},
		{"memlock", []string{"memory that can be locked", "8192 KiB"}, "memlock"},
		{"ping-group", []string{"capabilities", "net_admin sys_admin"}, "net.ipv4.ping_group_range="},
		{"no-privilege", []string{"exact idle time", "no"}, ""},
	} {
		r := Examine(Input{Hosts: []Host{host(with(c.change...), calm())}})
		if got := codes(r); !slices.Equal(got, []string{c.code}) {
			t.Errorf("%v: found %v, want %s alone", c.change, got, c.code)
			continue
		}
		f := r.Findings[0]
		if !strings.Contains(f.Command, c.command) || c.command == "" && f.Command != "" || f.Command == "" && f.Advice == "" {
			t.Errorf("%s: command %q, advice %q", c.code, f.Command, f.Advice)
		}
		tried[c.code] = true
	}
	both := Examine(Input{Hosts: []Host{host(with("numa nodes", "0: cpus 0; 1: cpus 1", "numa balancing", "on"), calm())}})
	if got := codes(both); !slices.Equal(got, []string{"numa", "numa-balancing"}) {
		t.Errorf("found %v", got)
	}
	tried["numa-balancing"] = true
	for _, c := range loads {
		tried[c.code] = true
	}
	for _, r := range rules {
		if !tried[r.code] {
			t.Errorf("rule %s is not tried", r.code)
		}
	}
}

// What is near to being wrong and is not.
func TestAsItShouldBe(t *testing.T) {
	for _, change := range [][]string{
		{"eth0 rings", "rx 256 of 256, tx 512 of 4096"}, // it could have no more
		{"eth0 coalescing", "adaptive-rx off, adaptive-tx off, rx-usecs 9, tx-usecs 100"},
		{"idle states", "C1E, 20 us to wake"}, {"cpus", "3 usable"}, {"eth0 irq cpus", "0-1 on all 3"}, {"eth0 irq cpus", "2"},
		{"eth0 rps", "off"}, {"swap", "2048 MiB, unused"}, {"connection tracking", "loaded"}, {"memory that can be locked", "65536 KiB"},
		{"clock source", "kvm-clock"}, {"eth0 speed", "40000 Mbit/s full duplex"}, {"numa balancing", "on"},
		{"net.ipv4.ping_group_range", "0 2147483647", "capabilities", "net_admin sys_admin"},
	} {
		if got := codes(Examine(Input{Hosts: []Host{host(with(change...), calm())}})); len(got) != 0 {
			t.Errorf("%v: found %v", change, got)
		}
	}
}

// loads are what a look can find.
var loads = []struct {
	code   string
	source string
	change func(*result.Reading)
}{
	{"cpu-busy", result.SourceIdle, func(r *result.Reading) { r.Counts["cpu1.idle"] = 5e8 }},
	{"steal", result.SourceCPU, func(r *result.Reading) { r.Counts["cpu0.steal"] = 3e7 }},
	{"cpu-throttled", result.SourceFrequency, func(r *result.Reading) { r.Counts = map[string]int64{"cpu1.throttles": 2} }},
	{"clock-step", result.SourceClock, func(r *result.Reading) { r.Counts["step_ns"] = 5e6 }},
	{"restless", result.SourceCPU, func(r *result.Reading) { r.Counts["context_switches"] = 9000 }},
	{"interrupts", result.SourceCPU, func(r *result.Reading) { r.Counts["interrupts"] = 9000 }},
	{"network-busy", result.SourceDevice, func(r *result.Reading) { r.Counts["rx_packets"] = 9000 }},
	{"softnet", result.SourceSoftnet, func(r *result.Reading) { r.Counts = map[string]int64{"squeezed": 3} }},
	{"softnet", result.SourceSoftnet, func(r *result.Reading) { r.Counts = map[string]int64{"dropped": 3} }},
	{"frequency-moves", result.SourceFrequency, func(r *result.Reading) { r.Was = map[string]int64{"cpu0.khz": 1e6} }},
	{"not-looked", "", nil},
}

func TestLoadRules(t *testing.T) {
	for _, c := range loads {
		look := calm()
		if c.change == nil {
			look = nil
		} else {
			c.change(look.Reading(c.source))
		}
		h := host(good(), look)
		h.Unseen = "the agent is too old"
		if got := codes(Examine(Input{Hosts: []Host{h}})); !slices.Equal(got, []string{c.code}) {
			t.Errorf("%s: found %v", c.code, got)
		}
	}
}

// A limit that could not be looked for is not taken for none.
func TestUnseenControlGroup(t *testing.T) {
	r := Examine(Input{Hosts: []Host{host(with("control group cpus", "-"), calm())}})
	if e := r.Ends[0]; len(r.Findings) != 0 || !slices.Contains(e.Unknown, "control group") || slices.Contains(e.Fine, "control group") {
		t.Errorf("found %v, fine %v", r.Findings, e.Fine)
	}
}

func TestPathRules(t *testing.T) {
	two := func(local, remote []result.Fact) Input {
		a, b := host(local, calm()), host(remote, calm())
		b.End = result.Remote
		return Input{Hosts: []Host{a, b}}
	}
	other := with("boot", "2")
	if got := codes(Examine(two(good(), other))); len(got) != 0 {
		t.Errorf("found %v between two good hosts", got)
	}
	loop := two(good(), good())
	loop.Loopback = true
	versions := two(good(), other)
	versions.Hosts[1].Version = "2"
	for _, c := range []struct {
		code string
		in   Input
	}{
		{"loopback", loop}, {"one-machine", two(good(), good())}, {"versions-differ", versions},
		{"mtu-differs", two(good(), with("boot", "2", "device eth0", "mlx5_core, mtu 9000"))},
	} {
		r := Examine(c.in)
		if got := codes(r); !slices.Equal(got, []string{c.code}) || r.Findings[0].End != Path {
			t.Errorf("%s: found %v", c.code, r.Findings)
		}
	}
	r := Examine(two(good(), with("boot", "2", "device eth0", "mlx5_core, mtu 9000")))
	if f := r.Findings[0]; f.Command != "ip link set dev eth0 mtu 1500" || !strings.Contains(f.Advice, "remote") {
		t.Errorf("got %+v", f)
	}
}

// What a command is made of may be another host's, and is nothing that a shell
// would carry out.
func TestCommandsAreSafe(t *testing.T) {
	const evil = "a'; reboot #"
	var bad []result.Fact
	for _, f := range with("eth0 rings", "rx 2 of 9", "eth0 coalescing", "adaptive-rx on, rx-usecs 99", "eth0 offloads", "sg", "eth0 rps", "f", "eth0 qdisc", "tbf",
		"eth0 xdp", "a program", "eth0 irq cpus", "0 on all 9", "eth0 speed", "10 Mbit/s half duplex", "connection tracking", "in use",
		"net.ipv4.tcp_rmem", "$(reboot) 1 2", "net.ipv4.tcp_wmem", "1 ;reboot 2") {
		f.Name = strings.Replace(f.Name, "eth0", evil, 1)
		bad = append(bad, f)
	}
	h := host(bad, calm())
	h.Device = evil
	far := host(with("boot", "2", "device eth0", "x, mtu 68"), calm())
	commands := 0
	for _, f := range Examine(Input{Hosts: []Host{h, far}}).Findings {
		if rest := strings.ReplaceAll(f.Command, `'a'\''; reboot #'`, ""); strings.Contains(rest, "reboot") {
			t.Errorf("%s: %s", f.Code, f.Command)
		} else if rest != f.Command {
			commands++
		}
	}
	if commands < 10 {
		t.Errorf("%d commands name the interface", commands)
	}
}

// What weighs most comes first, at whichever end.
func TestOrder(t *testing.T) {
	r := Examine(Input{Hosts: []Host{host(with("huge pages", "always", "governor", "powersave", "kernel debug", "KASAN"), nil)}})
	if got := codes(r); !slices.Equal(got, []string{"kernel-debug", "governor", "not-looked", "huge-pages"}) {
		t.Errorf("got %v", got)
	}
	if f := r.Findings; f[0].Level() != "severe" || f[3].Level() != "note" {
		t.Errorf("levels %s, %s", f[0].Level(), f[3].Level())
	}
}
