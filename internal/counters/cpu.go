package counters

import (
	"bytes"
	"fmt"
	"strconv"
)

// tick is the unit of /proc/stat's times: USER_HZ is 100 on every Linux
// (proc_stat(5)).
const tick = 10_000_000 // ns

// cpuTimes are the columns of a CPU's line in /proc/stat that are told, in
// their order there (proc_stat(5)). Guests' time is in user and nice.
var cpuTimes = []string{"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"}

// openCPU opens /proc/stat. Counts are "cpuN.user" and so on, in nanoseconds,
// of which the kernel knows no less than ten milliseconds; "context_switches",
// "interrupts" and "forks" of the whole machine; level "resolution_ns".
func openCPU(o *Options) (source, error) { return openFile(o, "proc/stat", parseStat) }

func parseStat(text []byte, s *sample) error {
	s.levels["resolution_ns"] = tick
	for line := range bytes.Lines(text) {
		// The line of interrupts has thousands of numbers, of which the first
		// is the sum.
		f := bytes.Fields(line[:min(len(line), 512)])
		if len(f) < 2 {
			continue
		}
		name := string(f[0])
		switch {
		case len(name) > 3 && name[:3] == "cpu":
			for i, kind := range cpuTimes[:min(len(cpuTimes), len(f)-1)] {
				n, err := strconv.ParseInt(string(f[1+i]), 10, 64)
				if err != nil {
					return fmt.Errorf("%s of %s is %q", kind, name, f[1+i])
				}
				s.counts[name+"."+kind] = n * tick
			}
		case name == "ctxt" || name == "intr" || name == "processes":
			n, err := strconv.ParseInt(string(f[1]), 10, 64)
			if err != nil {
				return fmt.Errorf("%s is %q", name, f[1])
			}
			s.counts[map[string]string{"ctxt": "context_switches", "intr": "interrupts", "processes": "forks"}[name]] = n
		}
	}
	return nil
}
