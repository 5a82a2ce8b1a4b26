package doctor

import (
	"fmt"
	"slices"
	"strings"
)

func kernelDebug(v *view) ([]Finding, bool) {
	is, ok := v.fact("kernel debug")
	switch {
	case !ok:
		return unknown()
	case is == "none" || is == "":
		return fine()
	}
	return one(Finding{Weight: 82, What: "the kernel was built to find its own errors: " + is,
		Why: "it checks what others do not, which can make the network several times slower", Advice: "boot a kernel that was built without"})
}

func realtime(v *view) ([]Finding, bool) {
	build, ok := v.fact("kernel build")
	if !ok {
		return unknown()
	}
	options, _ := v.fact("kernel options")
	var what string
	switch {
	case hasWord(build, "PREEMPT_RT"):
		what = "the kernel is PREEMPT_RT"
	case hasWord(options, "threadirqs"):
		what = "interrupts are handled by threads (threadirqs)"
	default:
		return fine()
	}
	return one(Finding{Weight: 24, What: what, Why: "interrupts and softirqs run in threads that have to be woken: every packet costs more and throughput is less than of other kernels",
		Advice: "compare it only with its like, or make it what is compared"})
}

func virtual(v *view) ([]Finding, bool) {
	by, is := v.fact("hypervisor")
	if _, known := v.fact("cpu"); !known {
		return unknown()
	}
	if !is {
		return fine()
	}
	what := "this is a virtual machine"
	if !strings.Contains(by, "unnamed") {
		what += " (" + by + ")"
	}
	return one(Finding{Weight: 30, What: what,
		Why:    "interrupts, timers and wake-ups pass through the hypervisor, and what else its host does is not seen from here",
		Advice: "it can't be mended from within; alternate what is compared, close in time"})
}

// goodClocks are read without a system call, or nearly so.
var goodClocks = []string{"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "timebase", "tod", "stp"}

func clockSource(v *view) ([]Finding, bool) {
	is, ok := v.fact("clock source")
	switch system, _ := v.fact("system"); {
	case !ok || !strings.HasPrefix(system, "linux"):
		return unknown()
	case slices.Contains(goodClocks, is):
		return fine()
	}
	return one(Finding{Weight: 62, What: "the clock is read from " + is,
		Why:     "each reading may be a system call and an access to a slow device, and every round trip has two",
		Command: "cat /sys/devices/system/clocksource/clocksource0/available_clocksource; echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource"})
}

func clockKept(v *view) ([]Finding, bool) {
	is, ok := v.fact("clock synchronised")
	switch {
	case !ok:
		return unknown()
	case is != "no":
		return fine()
	}
	return one(Finding{Weight: 10, What: "nothing keeps the clock in step", Why: "no figure needs that, but the times of runs on two hosts are hard to put side by side",
		Command: "timedatectl set-ntp true"})
}

func swap(v *view) ([]Finding, bool) {
	is, ok := v.fact("swap")
	switch {
	case !ok:
		return unknown()
	case !strings.HasSuffix(is, "in use"):
		return fine()
	}
	return one(Finding{Weight: 48, What: "swap is in use (" + is + ")", Why: "what waits for memory from a disk waits for milliseconds", Command: "swapoff -a"})
}

func hugePages(v *view) ([]Finding, bool) {
	is, ok := v.fact("huge pages")
	switch {
	case !ok:
		return unknown()
	case is != "always":
		return fine()
	}
	return one(Finding{Weight: 9, What: "every process may get huge pages", Why: "buffers are sometimes in huge pages and sometimes not, as chance has it",
		Command: "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"})
}

func irqbalance(v *view) ([]Finding, bool) {
	if _, known := v.fact("kernel"); !known {
		return unknown()
	}
	if _, runs := v.fact("irqbalance"); !runs {
		return fine()
	}
	return one(Finding{Weight: 44, What: "irqbalance runs", Why: "it moves interrupts to other CPUs every ten seconds or so, in the middle of a comparison",
		Command: "systemctl stop irqbalance"})
}

// sharesMachine says that both ends are on one machine: it was booted once.
func sharesMachine(in *Input) bool {
	if len(in.Hosts) != 2 {
		return false
	}
	a, known := newView(&in.Hosts[0], in).fact("boot")
	b, known2 := newView(&in.Hosts[1], in).fact("boot")
	return known && known2 && a == b
}

func loopback(in *Input) []Finding {
	if !in.Loopback {
		return nil
	}
	return []Finding{{Weight: 100, What: "both ends of the path are addresses of one host, so that packets go over loopback",
		Why: "no interface, driver, link or switch has a part in any figure", Advice: "give the address of another host, or netdelta lab, which has two hosts on one machine"}}
}

func oneMachine(in *Input) []Finding {
	if !sharesMachine(in) || in.Loopback {
		return nil
	}
	return []Finding{{Weight: 36, What: "both ends run on one machine", Why: "they share its CPUs, caches and memory, so that what one end saves the other may spend",
		Advice: "have CPU time of both ends added up, and bind the ends to CPUs of their own"}}
}

func mtuDiffers(in *Input) []Finding {
	if len(in.Hosts) != 2 {
		return nil
	}
	var mtu [2]int64
	for i := range mtu {
		h := &in.Hosts[i]
		is, _ := newView(h, in).fact("device " + h.Device)
		var ok bool
		if mtu[i], ok = after(is, "mtu"); !ok {
			return nil
		}
	}
	if mtu[0] == mtu[1] {
		return nil
	}
	less := 0
	if mtu[1] < mtu[0] {
		less = 1
	}
	more := in.Hosts[1-less]
	return []Finding{{Weight: 58, Device: more.Device,
		What:    fmt.Sprintf("the MTU of %s at the local end is %d, that of %s at the remote end %d", in.Hosts[0].Device, mtu[0], in.Hosts[1].Device, mtu[1]),
		Why:     "large packets of one end are dropped or fragmented on their way, or segments are of the smaller size in one direction only",
		Command: fmt.Sprintf("ip link set dev %s mtu %d", shell(more.Device), mtu[less]), Advice: fmt.Sprintf("at the %s end, or raise the other's", more.End)}}
}

func versionsDiffer(in *Input) []Finding {
	if len(in.Hosts) != 2 || in.Hosts[0].Version == in.Hosts[1].Version || in.Hosts[0].Version == "" || in.Hosts[1].Version == "" {
		return nil
	}
	return []Finding{{Weight: 46, What: fmt.Sprintf("the local end is netdelta %s, the remote one %s", in.Hosts[0].Version, in.Hosts[1].Version),
		Why: "the program itself is a part of what is measured", Advice: "use one version at both ends, and for all runs that are to be compared"}}
}
