package doctor

import (
	"fmt"
	"strconv"
	"strings"
)

func halfDuplex(v *view) ([]Finding, bool) {
	return v.eachDevice(func(d string) ([]Finding, bool) {
		is, ok := v.about(d, "speed")
		switch {
		case !ok || !strings.Contains(is, "duplex"):
			return unknown()
		case !strings.HasSuffix(is, "half duplex"):
			return fine()
		}
		return one(Finding{Weight: 92, What: d + " is at half duplex (" + is + ")", Why: "both directions share the line and collide",
			Command: "ethtool -s " + shell(d) + " autoneg on", Advice: "and the same at the switch's port"})
	})
}

func linkSlow(v *view) ([]Finding, bool) {
	return v.eachDevice(func(d string) ([]Finding, bool) {
		is, _ := v.about(d, "speed")
		top, ok := v.about(d, "top speed")
		have, ok1 := leading(is)
		could, ok2 := leading(top)
		switch {
		case !ok || !ok1 || !ok2:
			return unknown()
		case have >= could:
			return fine()
		}
		return one(Finding{Weight: 68, What: fmt.Sprintf("%s runs at %d Mbit/s and could at %d", d, have, could),
			Why:     "throughput is the link's, so that variants can't differ in it: only what they cost can",
			Command: "ethtool -s " + shell(d) + " autoneg on", Advice: "and look at the cable and at the switch's port"})
	})
}

// leading is the number that a text begins with.
func leading(text string) (int64, bool) {
	first, _, _ := strings.Cut(text, " ")
	n, err := strconv.ParseInt(first, 10, 64)
	return n, err == nil
}

func offloadsOff(v *view) ([]Finding, bool) {
	return v.eachDevice(func(d string) ([]Finding, bool) {
		on, ok := v.about(d, "offloads")
		if !ok {
			return unknown()
		}
		var off []string
		for _, name := range []string{"tso", "gso", "gro", "sg"} {
			if !hasWord(on, name) {
				off = append(off, name)
			}
		}
		for _, names := range [][2]string{{"rx-checksum", "rx"}, {"tx-checksum", "tx"}} {
			if !hasWord(on, names[0]) {
				off = append(off, names[1])
			}
		}
		if len(off) == 0 {
			return fine()
		}
		return one(Finding{Weight: 43, What: d + " has offloads off: " + list(off), Why: "each packet goes through the stack by itself or is summed by the CPU: throughput is less and costs more than users have it",
			Command: "ethtool -K " + shell(d) + " " + strings.Join(off, " on ") + " on", Advice: "leave it if that is what you measure"})
	})
}

func adaptive(v *view) ([]Finding, bool) {
	return v.eachDevice(func(d string) ([]Finding, bool) {
		is, ok := v.about(d, "coalescing")
		if !ok {
			return unknown()
		}
		command := ""
		for _, way := range []string{"rx", "tx"} {
			if strings.Contains(is, "adaptive-"+way+" on") {
				command += " adaptive-" + way + " off"
			}
		}
		if command == "" {
			return fine()
		}
		return one(Finding{Weight: 47, What: d + " chooses by itself how long it waits before it interrupts",
			Why:     "latency depends on what the traffic was a moment ago, so that a test changes the one after it",
			Command: "ethtool -C " + shell(d) + command})
	})
}

// longWait is how long an interface may keep packets back, in microseconds.
const longWait = 10

func coalescing(v *view) ([]Finding, bool) {
	return v.eachDevice(func(d string) ([]Finding, bool) {
		is, ok := v.about(d, "coalescing")
		if !ok {
			return unknown()
		}
		us, _ := after(is, "rx-usecs")
		if us < longWait {
			return fine()
		}
		return one(Finding{Weight: 33, What: fmt.Sprintf("%s keeps a packet back for up to %d us", d, us), Why: "round trips are longer by this, whatever the variant, and a smaller difference can't be seen beside it",
			HowMuch: fmt.Sprintf("up to %d us at each end that does", us), Command: "ethtool -C " + shell(d) + " rx-usecs 0", Advice: "for latency; streams need more CPU then"})
	})
}

func rings(v *view) ([]Finding, bool) {
	return v.eachDevice(func(d string) ([]Finding, bool) {
		is, ok := v.about(d, "rings")
		if !ok {
			return unknown()
		}
		const enough = 512 // packets
		var small []string
		command := "ethtool -G " + shell(d)
		for _, way := range []string{"rx", "tx"} {
			if n, most, ok := pair(is, way); ok && n < most && n < enough {
				small = append(small, fmt.Sprintf("%s %d", way, n))
				command += fmt.Sprintf(" %s %d", way, most)
			}
		}
		if len(small) == 0 {
			return fine()
		}
		return one(Finding{Weight: 41, What: fmt.Sprintf("the rings of %s are small (%s)", d, list(small)), Why: "a burst that comes while the CPU does something else is lost in the interface", Command: command})
	})
}

func oneIRQCPU(v *view) ([]Finding, bool) {
	return v.eachDevice(func(d string) ([]Finding, bool) {
		is, ok := v.about(d, "irq cpus")
		if !ok {
			return unknown()
		}
		cpu, lines, several := strings.Cut(is, " on all ")
		if _, err := strconv.Atoi(cpu); !several || err != nil {
			return fine()
		}
		return one(Finding{Weight: 45, What: fmt.Sprintf("all %s interrupt lines of %s go to CPU %s", lines, d, cpu), Why: "one CPU handles the packets of all flows, and is full while others are idle",
			Command: fmt.Sprintf("i=0; for l in /sys/class/net/%s/%s/*; do echo $((i %% $(nproc))) > /proc/irq/${l##*/}/smp_affinity_list; i=$((i+1)); done", shell(d), v.lines(d))})
	})
}

// lines is where sysfs has an interface's interrupt lines: of a virtio device
// they are those of the PCI device that it is on.
func (v *view) lines(device string) string {
	if is, _ := v.fact("device " + device); strings.HasPrefix(is, "virtio") {
		return "device/../msi_irqs"
	}
	return "device/msi_irqs"
}

func rps(v *view) ([]Finding, bool) {
	return v.eachDevice(func(d string) ([]Finding, bool) {
		is, ok := v.about(d, "rps")
		if !ok {
			return unknown()
		}
		if strings.HasPrefix(is, "off") && !strings.Contains(strings.TrimPrefix(is, "off on all "), " ") {
			return fine()
		}
		return one(Finding{Weight: 22, What: fmt.Sprintf("packets of %s are handed to other CPUs (rps_cpus %s)", d, is), Why: "each costs an interrupt of another CPU, and which one is a matter of ports and addresses, that differ from run to run",
			Command: fmt.Sprintf("for q in /sys/class/net/%s/queues/rx-*; do echo 0 > $q/rps_cpus; done", shell(d))})
	})
}

// shapers are queueing disciplines that delay or drop packets by themselves.
var shapers = []string{"tbf", "htb", "hfsc", "cake", "netem", "ets", "red", "sfb", "choke", "codel", "pie", "drr"}

func qdisc(v *view) ([]Finding, bool) {
	return v.eachDevice(func(d string) ([]Finding, bool) {
		is, ok := v.about(d, "qdisc")
		if !ok {
			return unknown()
		}
		for _, name := range shapers {
			if !hasWord(strings.ReplaceAll(is, ",", " "), name) {
				continue
			}
			return one(Finding{Weight: 56, What: fmt.Sprintf("%s sends through %s", d, is), Why: "its queue may limit the rate, and delay or drop packets",
				Command: "tc qdisc del dev " + shell(d) + " root", Advice: "leave it if that is what you measure"})
		}
		return fine()
	})
}

func virtualDevice(v *view) ([]Finding, bool) {
	return v.eachDevice(func(d string) ([]Finding, bool) {
		if _, known := v.about(d, "queue length"); !known {
			return unknown()
		}
		kind, virtual := v.about(d, "kind")
		master, member := v.about(d, "member of")
		f := Finding{Weight: 39, Why: "every packet goes through the stack once more, and what it does there is in every figure", Advice: "put the path's address on the interface below, if that is what you want to measure"}
		switch {
		case virtual && kind == "veth":
			f.Weight, f.What, f.Why, f.Advice = 18, d+" is a veth", "no hardware is on the path: the sender's CPU carries packets to the receiver's queue", "measure between interfaces of hardware for figures of hardware"
		case virtual:
			f.What = d + " is no hardware's interface: " + kind
		case member:
			f.What = d + " is a member of " + master
		default:
			return fine()
		}
		return one(f)
	})
}

func xdp(v *view) ([]Finding, bool) {
	return v.eachDevice(func(d string) ([]Finding, bool) {
		if _, known := v.about(d, "queue length"); !known {
			return unknown()
		}
		is, there := v.about(d, "xdp")
		if !there {
			return fine()
		}
		return one(Finding{Weight: 31, What: fmt.Sprintf("%s has XDP: %s", d, is), Why: "it runs for every packet that comes in, and may switch off offloads", Command: "ip link set dev " + shell(d) + " xdp off"})
	})
}
