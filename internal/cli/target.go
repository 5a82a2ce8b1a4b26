package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"netdelta/internal/ctl"
	"netdelta/internal/hosts"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// targets makes the way to each agent that is named.
func (f *securityFlags) targets(verb string, names []string) ([]hosts.Target, error) {
	if len(names) < 1 || len(names) > 2 {
		return nil, usageError("%s takes TARGET, the agent at the far end, or two of them, got %d (see netdelta %s --help)", verb, len(names), verb)
	}
	var all []hosts.Target
	for _, name := range names {
		if host, _, err := ctl.ParseAddr(name); err != nil {
			return nil, &exitError{ExitUsage, err}
		} else if host == "" {
			return nil, usageError("address %q names no host", name)
		}
		way, err := f.transport(name)
		if err != nil {
			return nil, err
		}
		all = append(all, hosts.Target{Name: name, Way: way})
	}
	return all, nil
}

// clientName is how an agent's messages call this program.
func clientName() string {
	host, err := os.Hostname()
	if err != nil {
		return "netdelta run"
	}
	return "netdelta run on " + host
}

// parseFarCPU reads the number of a CPU of another host, or none.
func parseFarCPU(s string) (int, error) {
	if s == "none" {
		return sys.NoCPU, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 1<<16 {
		return 0, fmt.Errorf("%q is no CPU: give a number or none", s)
	}
	return n, nil
}

// maxCPUs is the most CPUs of one end's threads.
const maxCPUs = spec.MaxThreads

// parseCPUs reads the CPUs of one end's traffic threads, comma-separated, each
// as one reads it: the first one's, and those of further threads.
func parseCPUs(s string, one func(string) (int, error)) (first int, more []int, err error) {
	words := strings.Split(s, ",")
	if len(words) > maxCPUs {
		return 0, nil, fmt.Errorf("%d CPUs are more than %d", len(words), maxCPUs)
	}
	for i, w := range words {
		cpu, err := one(strings.TrimSpace(w))
		if err != nil {
			return 0, nil, err
		}
		if len(words) > 1 && cpu < 0 {
			return 0, nil, fmt.Errorf("%q: of several CPUs each is a number", s)
		}
		if i == 0 {
			first = cpu
			continue
		}
		more = append(more, cpu)
	}
	return first, more, nil
}

// parseHereCPU reads the number of a CPU of this host, or none.
func parseHereCPU(s string) (int, error) {
	if s == "auto" {
		return 0, fmt.Errorf("%q is no CPU: give a number or none", s)
	}
	return parseCPU(s)
}
