package lab

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"netdelta/internal/findings"
	"netdelta/internal/netlab"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// Names of the second factors.
const (
	secondPinned   = "pinned"
	secondBusyPoll = "busypoll"
	secondLink     = "link"
)

var twoFactor = Experiment{
	Name:     "two-factor",
	Question: "Is what the receive handler's context does the same whatever else varies, and how much of it is the wire's floor?",
	Page:     "two-factor.md",
	Links:    []string{netlab.Ether, netlab.Veth},
	Tests:    "udp_rr,tcp_rr",
	Beside:   "wake by=pipe at=other",
	// CPU time is no figure of an end whose threads are bound to no CPU.
	Metrics: []string{result.RTTP50, result.RTTP99, result.Rate},
	Blocks:  40,
	Window:  100 * time.Millisecond,
	Seconds: []string{secondPinned, secondBusyPoll, secondLink},
	factors: func(o Options) ([]factor, error) {
		first, second := rx(o.Link), seconds[o.Second]
		if o.Second == secondLink {
			first = rxOnBoth()
		}
		f, err := second(o)
		return []factor{first, f}, err
	},
	finders: []findings.Finder{findings.Floor, findings.Window},
}

// seconds is the table of second factors.
var seconds = map[string]func(Options) (factor, error){
	secondPinned:   pinned,
	secondBusyPoll: busyPolled,
	secondLink:     linked,
}

// pinned has the traffic threads of both ends bound to the CPUs that they usually
// are bound to, or left to the scheduler.
func pinned(o Options) (factor, error) {
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		return factor{}, err
	}
	p := o.place(cpus)
	if p.local == sys.NoCPU || p.remote == sys.NoCPU {
		return factor{}, errors.New("pinned needs a CPU for each end to be bound to: two CPUs, and neither --cpu-local nor --cpu-remote none")
	}
	on := map[string]string{spec.EndLocal: cpuList(p.local, o.CPUsLocal), spec.EndRemote: cpuList(p.remote, o.CPUsRemote)}
	return factor{
		name:  secondPinned,
		about: "whether the traffic threads are bound to CPUs of their own",
		usual: []string{"on", "off"},
		valid: []string{"on", "off"},
		settings: func(level string) ([]spec.Setting, error) {
			var all []spec.Setting
			for _, end := range []string{spec.EndLocal, spec.EndRemote} {
				value := spec.None
				if level == "on" {
					value = on[end]
				}
				all = append(all, spec.Setting{End: end, Knob: "cpu", Value: value})
			}
			return all, nil
		},
	}, nil
}

// cpuList is CPUs as the knob takes them.
func cpuList(first int, more []int) string {
	words := []string{strconv.Itoa(first)}
	for _, cpu := range more {
		words = append(words, strconv.Itoa(cpu))
	}
	return strings.Join(words, ",")
}

// busyPolled has the sockets of both ends poll the interface themselves, for so many
// us, before they sleep.
func busyPolled(Options) (factor, error) {
	return factor{
		name:  secondBusyPoll,
		about: "for how many us a socket polls the interface itself before it sleeps",
		usual: []string{"off", "50"},
		forms: []string{"off", "MICROSECONDS"},
		settings: func(level string) ([]spec.Setting, error) {
			value := level
			if level == "off" {
				value = spec.Default
			} else if n, err := strconv.Atoi(level); err != nil || n < 1 || n > spec.MaxBusyPoll {
				return nil, fmt.Errorf("valid are off, and microseconds from 1 to %d", spec.MaxBusyPoll)
			}
			return []spec.Setting{onTest("busypoll", value)}, nil
		},
	}, nil
}

// linked is the factor of the link itself.
func linked(Options) (factor, error) {
	return factor{
		name:  secondLink,
		about: "what is between the hosts",
		usual: []string{netlab.Veth, netlab.Ether},
		valid: []string{netlab.Veth, netlab.Ether},
		settings: func(level string) ([]spec.Setting, error) {
			return []spec.Setting{onLink(knobLink, level)}, nil
		},
	}, nil
}

// rxOnBoth is the factor of those contexts that both links have, by ether's names.
func rxOnBoth() factor {
	f := rx(netlab.Ether)
	f.on = " on both links"
	f.valid = slices.DeleteFunc(slices.Clone(f.valid), func(c string) bool {
		_, ok := netlab.ContextOn(netlab.Veth, c)
		return !ok
	})
	return f
}
