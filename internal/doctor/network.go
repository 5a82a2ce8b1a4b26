package doctor

import (
	"fmt"
	"strconv"
	"strings"
)

// enoughBuffer is what a socket's buffer should be allowed to be, in bytes,
// and buffer what is proposed.
const (
	enoughBuffer = 4 << 20
	buffer       = 16 << 20
)

func socketBuffers(v *view) ([]Finding, bool) {
	var small []string
	command, known := "sysctl -w", false
	least := int64(enoughBuffer)
	for _, name := range []string{"net.core.rmem_max", "net.core.wmem_max"} {
		n, ok := v.number(name)
		known = known || ok
		if ok && n < enoughBuffer {
			small = append(small, fmt.Sprintf("%s is %d", name, n))
			command += fmt.Sprintf(" %s=%d", name, buffer)
			least = min(least, n)
		}
	}
	switch {
	case !known:
		return unknown()
	case len(small) == 0:
		return fine()
	}
	return one(Finding{Weight: 37, What: list(small), Why: "a UDP receiver that is held up for a moment loses what its buffer cannot hold, which then looks like the path's loss",
		HowMuch: v.lasts(least), Command: command})
}

// lasts says for how long a buffer can take in what the link brings; nothing
// where the link's speed is not known.
func (v *view) lasts(bytes int64) string {
	for _, d := range v.devices() {
		is, _ := v.about(d, "speed")
		if mbit, ok := leading(is); ok && mbit > 0 {
			return fmt.Sprintf("%.2g ms of what %s can bring", float64(bytes)*8/float64(mbit)/1e3, d)
		}
	}
	return ""
}

func tcpBuffers(v *view) ([]Finding, bool) {
	var small []string
	command, known := "sysctl -w", false
	least := int64(enoughBuffer)
	for _, name := range []string{"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"} {
		value, _ := v.fact(name)
		f := strings.Fields(value)
		if len(f) != 3 {
			continue
		}
		// They may be another host's, and are to stand in a command.
		low, err := strconv.ParseInt(f[0], 10, 64)
		mid, err2 := strconv.ParseInt(f[1], 10, 64)
		n, err3 := strconv.ParseInt(f[2], 10, 64)
		if err != nil || err2 != nil || err3 != nil {
			continue
		}
		known = true
		if n < enoughBuffer {
			small = append(small, fmt.Sprintf("%s ends at %d", name, n))
			command += fmt.Sprintf(" %s='%d %d %d'", name, low, mid, buffer)
			least = min(least, n)
		}
	}
	switch {
	case !known:
		return unknown()
	case len(small) == 0:
		return fine()
	}
	return one(Finding{Weight: 40, What: list(small), Why: "a connection can't have more than this on its way: throughput is this by the round-trip time, whatever the link could carry",
		HowMuch: v.lasts(least), Command: command})
}

// options are switches of TCP that every path has on.
var options = []struct {
	name   string
	weight int
	why    string
}{
	{"net.ipv4.tcp_window_scaling", 71, "no more than 64 KiB can be on their way"},
	{"net.ipv4.tcp_sack", 43, "after a loss much is sent again that had arrived"},
	{"net.ipv4.tcp_timestamps", 23, "round-trip times are estimated from few segments"},
	{"net.ipv4.tcp_moderate_rcvbuf", 44, "the receive buffer does not grow with the path"},
}

func tcpOptions(v *view) ([]Finding, bool) {
	var found []Finding
	known := false
	for _, o := range options {
		is, ok := v.fact(o.name)
		known = known || ok
		if ok && is == "0" {
			found = append(found, Finding{Weight: o.weight, What: o.name + " is 0", Why: o.why, Command: "sysctl -w " + o.name + "=1"})
		}
	}
	return found, known
}

func budget(v *view) ([]Finding, bool) {
	n, ok := v.number("net.core.netdev_budget")
	us, ok2 := v.number("net.core.netdev_budget_usecs")
	switch {
	case !ok:
		return unknown()
	case n >= 300 && (!ok2 || us >= 2000):
		return fine()
	}
	what := fmt.Sprintf("net.core.netdev_budget is %d", n)
	if ok2 {
		what += fmt.Sprintf(", net.core.netdev_budget_usecs %d", us)
	}
	return one(Finding{Weight: 28, What: what, Why: "softirqs leave packets waiting before their queue is empty", Command: "sysctl -w net.core.netdev_budget=600 net.core.netdev_budget_usecs=8000"})
}

func backlog(v *view) ([]Finding, bool) {
	n, ok := v.number("net.core.netdev_max_backlog")
	switch {
	case !ok:
		return unknown()
	case n >= 1000:
		return fine()
	}
	return one(Finding{Weight: 29, What: fmt.Sprintf("net.core.netdev_max_backlog is %d", n), Why: "packets that are handed to another CPU, or come by a veth, are dropped in bursts", Command: "sysctl -w net.core.netdev_max_backlog=10000"})
}

func busyPoll(v *view) ([]Finding, bool) {
	poll, ok := v.number("net.core.busy_poll")
	read, ok2 := v.number("net.core.busy_read")
	switch {
	case !ok && !ok2:
		return unknown()
	case poll == 0 && read == 0:
		return fine()
	}
	return one(Finding{Weight: 25, What: fmt.Sprintf("sockets poll by default (net.core.busy_poll %d, net.core.busy_read %d)", poll, read),
		Why: "latency is bought with CPU time, unlike on hosts with the usual settings", Command: "sysctl -w net.core.busy_poll=0 net.core.busy_read=0"})
}

func packetFilter(v *view) ([]Finding, bool) {
	var there []string
	for _, kind := range []string{"nftables", "iptables", "ip6tables", "arptables"} {
		if is, ok := v.fact(kind); ok && is != "" {
			there = append(there, kind+" "+is)
		}
	}
	if len(there) == 0 {
		if caps, _ := v.fact("capabilities"); !hasWord(caps, "net_admin") {
			return unknown() // only who may change rules may see them
		}
		return fine()
	}
	return one(Finding{Weight: 35, What: "packets pass rules of a firewall (" + strings.Join(there, "; ") + ")", Why: "every packet is compared with them, at both ends of the stack",
		Command: "nft list ruleset || iptables-save", Advice: "this shows the rules: take the path's traffic out of them, or accept it first"})
}

func conntrack(v *view) ([]Finding, bool) {
	is, there := v.fact("connection tracking")
	if _, known := v.fact("net.core.rmem_max"); !known {
		return unknown()
	}
	if !there || is != "in use" {
		return fine()
	}
	in, out := "", ""
	if v.Device != "" {
		in, out = " iifname "+shell(v.Device), " oifname "+shell(v.Device)
	}
	command := "nft add table inet untracked" +
		" && nft add chain inet untracked in '{ type filter hook prerouting priority raw; }'" +
		" && nft add chain inet untracked out '{ type filter hook output priority raw; }'" +
		" && nft add rule inet untracked in" + in + " notrack && nft add rule inet untracked out" + out + " notrack"
	return one(Finding{Weight: 36, What: "the kernel tracks connections", Why: "every packet is looked up in a table, and every connection enters it and leaves it, which tcp_crr is made of",
		Command: command, Advice: "rules that ask for the state of connections no longer match then"})
}

func memlock(v *view) ([]Finding, bool) {
	is, ok := v.fact("memory that can be locked")
	if !ok {
		return unknown()
	}
	const need = 64 << 10 // KiB
	if n, ok := leading(is); !ok || n >= need {
		return fine()
	}
	return one(Finding{Weight: 26, What: "no more than " + is + " of memory can be locked", Why: "a page fault in the window takes some microseconds, or a disk's time",
		Command: "prlimit --memlock=unlimited --pid $$", Advice: "in the shell that starts netdelta there, or LimitMEMLOCK=infinity in the agent's unit"})
}

func pingGroup(v *view) ([]Finding, bool) {
	is, ok := v.fact("net.ipv4.ping_group_range")
	if !ok {
		return unknown()
	}
	f := strings.Fields(is)
	caps, _ := v.fact("capabilities")
	if len(f) != 2 || hasWord(caps, "net_raw") {
		return fine()
	}
	low, err := strconv.ParseInt(f[0], 10, 64)
	high, err2 := strconv.ParseInt(f[1], 10, 64)
	if err != nil || err2 != nil || low <= high {
		return fine()
	}
	return one(Finding{Weight: 21, What: "nobody but root may send pings (net.ipv4.ping_group_range is " + is + ")", Why: "this end can't measure icmp_echo",
		Command: "sysctl -w net.ipv4.ping_group_range='0 2147483647'"})
}

func noPrivilege(v *view) ([]Finding, bool) {
	caps, ok := v.fact("capabilities")
	if !ok {
		return unknown()
	}
	var lacks []string
	if is, known := v.fact("exact idle time"); known && is == "no" {
		lacks = append(lacks, "the exact idle time of CPUs (/proc/timer_list)")
	}
	if !hasWord(caps, "sys_admin") && !(hasWord(caps, "bpf") && hasWord(caps, "perfmon")) {
		lacks = append(lacks, "exact softirq time (eBPF)")
	}
	if len(lacks) == 0 {
		return fine()
	}
	return one(Finding{Weight: 27, What: "netdelta may not read " + strings.Join(lacks, " and "), Why: "CPU time is then told in the steps of the kernel's ticks, which miss short interrupts",
		Advice: "start the agent as root there"})
}
