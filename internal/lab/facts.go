package lab

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/netlab"
	"netdelta/internal/run"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// Facts tells what of the lab bears on the plan's figures. What differs between
// its variants is told with "or" between.
func (o Options) Facts(plan spec.Plan) []compare.Fact {
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		return nil
	}
	at := o.place(cpus)
	var kinds, mtus, offloads, locals, remotes, threads, backlogs several
	wire := false
	for _, v := range plan.Variants() {
		settings := plan.SettingsOf(v)
		c, err := o.link(settings, at)
		p := run.Path{LocalCPU: at.local, RemoteCPU: at.remote, LocalCPUs: o.CPUsLocal, RemoteCPUs: o.CPUsRemote}
		if err != nil || p.Bind(settings) != nil {
			return nil // and the plan is none that can be run
		}
		offload := "off"
		if c.Offload {
			offload = "on"
		}
		kinds.add(c.Kind)
		mtus.add(fmt.Sprint(c.MTU))
		offloads.add(offload)
		locals.add(cpuNames(p.LocalCPU, p.LocalCPUs))
		remotes.add(cpuNames(p.RemoteCPU, p.RemoteCPUs))
		wire = wire || c.Kind == netlab.Ether
		switch by, cpu := netlab.Handling(c); by {
		case netlab.ByThreads:
			threads.add(cpuName(cpu))
		case netlab.ByBacklog:
			backlogs.add(cpuName(cpu))
		}
	}
	family := "IPv4"
	if o.IPv6 {
		family = "IPv6"
	}
	bound := fmt.Sprintf("local %s, remote %s", locals, remotes)
	if wire {
		bound += ", wire " + cpuName(at.wire)
	}
	if len(threads) == 0 {
		threads.add(cpuName(sys.NoCPU))
	}
	bound += fmt.Sprintf(", kernel threads %s", threads)
	if len(backlogs) > 0 {
		bound += fmt.Sprintf(", backlog queue %s", backlogs)
	}
	facts := []compare.Fact{
		{Name: "link", Value: fmt.Sprintf("%s, %s, MTU %s, checksum and segmentation offload %s", kinds, family, mtus, offloads)},
		{Name: "bound to cpu", Value: bound},
	}
	if o.Awake {
		facts = append(facts, compare.Fact{Name: "kept awake", Value: "all CPUs, by loops of idle priority"})
	}
	return facts
}

// several are the values that something has in a plan, each once.
type several []string

func (s *several) add(value string) {
	if !slices.Contains(*s, value) {
		*s = append(*s, value)
	}
}

func (s several) String() string { return strings.Join(s, " or ") }

func cpuName(cpu int) string {
	if cpu == sys.NoCPU {
		return "none"
	}
	return fmt.Sprint(cpu)
}

func cpuNames(first int, more []int) string {
	name := cpuName(first)
	for _, cpu := range more {
		name += "+" + cpuName(cpu)
	}
	return name
}
