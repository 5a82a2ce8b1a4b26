package lab

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/netlab"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// OptionsOf is what a plan's file says of its lab, for Check, Run and Facts; the
// rest of the options is the plan's own. An error names the line's key.
func OptionsOf(l spec.Lab) (Options, error) {
	o := Options{Link: l.Link, Context: l.Context, MTU: l.MTU, Wire: l.Wire, Offload: l.Offload, IPv6: l.IPv6, CPUHandler: Auto}
	if o.Link == "" {
		o.Link = netlab.Ether
	}
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		return o, err
	}
	for _, c := range []struct {
		key, value string
		first      *int
		more       *[]int
	}{{"cpu-local", l.CPULocal, &o.CPULocal, &o.CPUsLocal}, {"cpu-remote", l.CPURemote, &o.CPURemote, &o.CPUsRemote}, {"cpu-wire", l.CPUWire, &o.CPUWire, nil}} {
		first, more, err := parseCPUs(c.value, cpus)
		if err == nil && c.more == nil && len(more) > 0 {
			err = fmt.Errorf("%q: it is one CPU at most", c.value)
		}
		if err != nil {
			return o, fmt.Errorf("%s: %w", c.key, err)
		}
		if *c.first = first; c.more != nil {
			*c.more = more
		}
	}
	return o, nil
}

// parseCPUs reads auto, none or the numbers of usable CPUs. Nothing is auto.
func parseCPUs(s string, usable []int) (first int, more []int, err error) {
	if s == "" || s == "auto" {
		return Auto, nil, nil
	}
	cpus, err := spec.ParseCPUs(s)
	if err != nil {
		return 0, nil, err
	}
	for _, cpu := range cpus {
		if !slices.Contains(usable, cpu) {
			return 0, nil, fmt.Errorf("CPU %d is not usable here: usable are %s", cpu, strings.Trim(fmt.Sprint(usable), "[]"))
		}
	}
	switch {
	case len(cpus) == 0:
		return sys.NoCPU, nil, nil
	case len(cpus) > spec.MaxThreads:
		return 0, nil, fmt.Errorf("%d CPUs are more than %d", len(cpus), spec.MaxThreads)
	}
	return cpus[0], cpus[1:], nil
}
