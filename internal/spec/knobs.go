package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// knobs is the table. A new knob is a row here, and for one of a host a row and
// a file in package knob.
var knobs = []Knob{
	onOffKnob("gro", "generic receive offload"),
	onOffKnob("gso", "generic segmentation offload"),
	onOffKnob("tso", "TCP segmentation offload, by IPv4 and IPv6"),
	onOffKnob("lro", "large receive offload"),
	onOffKnob("sg", "scatter-gather"),
	onOffKnob("tx-checksum", "checksums of what is sent, by the device"),
	onOffKnob("rx-checksum", "checksums of what is received, by the device"),
	{Name: "feature", Scope: OnDevice, Arg: "NAME", Form: "on|off", About: "any feature by its name in ethtool -k, as in feature.tx-udp-segmentation",
		checkArg: wordArg, check: onOffValue},
	{Name: "coalesce", Scope: OnDevice, Arg: "NAME", Form: "N|on|off", About: "interrupt coalescing as ethtool -C names it: coalesce.rx-usecs",
		checkArg: oneOf(coalesceNames), check: coalesceValue},
	{Name: "ring", Scope: OnDevice, Arg: "rx|tx|rx-mini|rx-jumbo", Form: "N", About: "descriptors of a ring, as in ethtool -G",
		checkArg: oneOf([]string{"rx", "tx", "rx-mini", "rx-jumbo"}), check: numberValue(0, maxRing)},
	{Name: "channels", Scope: OnDevice, Arg: "rx|tx|other|combined", Form: "N", About: "channels of the device, as in ethtool -L",
		checkArg: oneOf([]string{"rx", "tx", "other", "combined"}), check: numberValue(0, maxChannels)},
	onOffKnob("threaded", "NAPI polled in kernel threads"),
	{Name: "gro_flush_timeout", Scope: OnDevice, Form: "NS", About: "how long GRO may hold packets back, in ns", check: numberValue(0, maxFlush)},
	{Name: "napi_defer_hard_irqs", Scope: OnDevice, Form: "N", About: "empty polls before interrupts are on again", check: numberValue(0, 1<<31-1)},
	{Name: "rps", Scope: OnDevice, Form: "CPUS|none", About: "CPUs that receive packet steering may use, of every queue", check: cpusValue(true)},
	{Name: "rps_flow_cnt", Scope: OnDevice, Form: "N", About: "entries of each receive queue's flow table (RFS)", check: numberValue(0, maxFlowTable)},
	{Name: "xps", Scope: OnDevice, Form: "CPUS|none", About: "CPUs that may use a transmit queue, of every queue", check: cpusValue(true)},
	{Name: "irq-affinity", Scope: OnDevice, Form: "CPUS", About: "CPUs that handle the device's interrupts, all of them", check: cpusValue(false)},
	{Name: "mtu", Scope: OnDevice, Form: "BYTES", About: "largest packet of the interface", check: numberValue(minMTU, maxMTU)},
	{Name: "txqueuelen", Scope: OnDevice, Form: "N", About: "packets that the transmit queue holds", check: numberValue(0, 1<<31-1)},
	{Name: "qdisc", Scope: OnDevice, Form: "KIND [OPTION VALUE]...", About: "queueing discipline at the interface's root, as tc words it", check: qdiscValue},
	{Name: "sysctl", Scope: OnHost, Arg: "NAME", Form: "TEXT", About: "a kernel parameter as sysctl -w names it: sysctl.net.ipv4.tcp_rmem",
		checkArg: sysctlArg, check: textValue},
	{Name: "congestion", Scope: OnHost, Form: "NAME", About: "congestion control of new TCP connections", check: nameValue(maxWord - 1)},
	{Name: "busy_poll", Scope: OnHost, Form: "USEC", About: "net.core.busy_poll and busy_read, in us", check: numberValue(0, MaxBusyPoll)},
	{Name: "governor", Scope: OnHost, Form: "NAME", About: "frequency governor of every CPU", check: nameValue(maxGovernor)},
	{Name: "rps_sock_flow_entries", Scope: OnHost, Form: "N", About: "entries of the host's flow table (RFS)", check: numberValue(0, maxFlowTable)},
	{Name: "command", Scope: OnCommand, Form: "{apply, restore, check}", About: "what sh runs to make the change, to undo it and to check it", check: commandValue},
	{Name: "cpu", Scope: OnWorker, Form: "CPUS|none", About: "CPUs that the traffic threads are bound to, in order", check: workerCPUs},
	{Name: "param", Scope: OnTest, Arg: "NAME", Form: "VALUE", About: "a parameter of every test that takes it: param.send, param.size", checkArg: paramArg, check: paramValue},
	{Name: "link", Scope: OnLink, Form: "veth|ether", About: "the lab's link", check: wordsValue("veth", "ether")},
	{Name: "context", Scope: OnLink, Form: "NAME", About: "where the lab's hosts handle received frames", check: nameValue(MaxName)},
	{Name: "offload", Scope: OnLink, Form: "on|off", About: "checksums and segmentation left to the lab's link", check: onOffValue},
	{Name: "link-mtu", Scope: OnLink, Form: "BYTES", About: "largest packet of the lab's link", check: numberValue(minMTU, maxMTU)},
	{Name: "busy", Scope: OnLink, Form: "none|local|remote", About: "a real-time thread takes 3/4 of the CPU of that end's thread", check: wordsValue(None, EndLocal, EndRemote)},
	{Name: "wire", Scope: OnLink, Arg: strings.Join(WireNames(), "|"), Form: "VALUE", About: "what the wire of a lab's ether link does to frames: wire.delay, wire.loss",
		checkArg: oneOf(WireNames()), check: wireValue},
}

func onOffKnob(name, about string) Knob {
	return Knob{Name: name, Scope: OnDevice, Form: "on|off", About: about, check: onOffValue}
}

// Written is the knob's name with the form of what stands behind it.
func (k Knob) Written() string {
	if k.Arg == "" {
		return k.Name
	}
	return k.Name + "." + k.Arg
}

// knobOf finds the row of a knob and what stands behind the row's name.
func knobOf(name string) (Knob, string, error) {
	base, arg, dotted := strings.Cut(name, ".")
	i := slices.IndexFunc(knobs, func(k Knob) bool { return k.Name == base })
	if i < 0 {
		return Knob{}, "", fmt.Errorf("unknown knob %s: valid are %s", quoted(name), strings.Join(nearestKnobs(base), ", "))
	}
	k := knobs[i]
	switch {
	case k.Arg == "" && dotted:
		return Knob{}, "", fmt.Errorf("knob %s takes nothing behind a dot, got %s", base, quoted(arg))
	case k.Arg != "" && arg == "":
		return Knob{}, "", fmt.Errorf("knob %s needs to know which: write %s", base, k.Written())
	case k.Arg != "":
		if err := k.checkArg(arg); err != nil {
			return Knob{}, "", fmt.Errorf("knob %s: %w", base, err)
		}
	}
	return k, arg, nil
}

// nearestKnobs are the names of all knobs, those most like the given one first.
func nearestKnobs(name string) []string {
	sorted := Knobs()
	slices.SortStableFunc(sorted, func(a, b Knob) int { return cmp.Compare(edits(a.Name, name), edits(b.Name, name)) })
	names := make([]string, len(sorted))
	for i, k := range sorted {
		names[i] = k.Written()
	}
	return names
}

// edits is the number of bytes to insert, delete or replace to make b of a
// (Levenshtein). Of what is longer than any name the rest is left out.
func edits(a, b string) int {
	b = b[:min(len(b), MaxName)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
