package counters

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// softnetColumns are those of /proc/net/softnet_stat that are told, by their
// place (net/core/net-procfs.c): flow_limit is there since Linux 3.11,
// received_rps since 2.6.35.
var softnetColumns = []struct {
	name   string
	column int
}{{"processed", 0}, {"dropped", 1}, {"squeezed", 2}, {"received_rps", 9}, {"flow_limit", 10}}

// The length of a CPU's queues is there since Linux 5.10, and so is its number.
const (
	softnetBacklog = 11
	softnetCPU     = 12
)

// openSoftnet opens /proc/net/softnet_stat, which is of the whole machine, not
// of a network namespace. Counts, as sums and with "@N" for each CPU:
// "processed", packets that the stack took in; "dropped", those for which a
// CPU's queue was full (net.core.netdev_max_backlog); "squeezed", runs of the
// softirq that ended with work left; "received_rps", wake-ups of a CPU by
// another's packet steering; "flow_limit", packets dropped by the flow limit.
// Level "backlog": packets in all queues.
func openSoftnet(o *Options) (source, error) {
	online := onlineCPUs(o.root)
	return openFile(o, "proc/net/softnet_stat", func(text []byte, s *sample) error {
		return parseSoftnet(text, online, s)
	})
}

// parseSoftnet reads the table. Where it does not say which CPU a line is of,
// the lines are those of the CPUs that are online, in order.
func parseSoftnet(text []byte, online []string, s *sample) error {
	s.bits = bits32
	number := 0
	for line := range bytes.Lines(text) {
		f := bytes.Fields(line)
		if len(f) == 0 {
			continue
		}
		at := func(column int) (int64, error) {
			n, err := strconv.ParseUint(string(f[column]), 16, 32)
			if err != nil {
				return 0, fmt.Errorf("column %d of line %d is %q", column+1, number+1, f[column][:min(len(f[column]), 40)])
			}
			return int64(n), nil
		}
		cpu := strconv.Itoa(number)
		if number < len(online) {
			cpu = online[number]
		}
		if len(f) > softnetCPU {
			n, err := at(softnetCPU)
			if err != nil {
				return err
			}
			backlog, err := at(softnetBacklog)
			if err != nil {
				return err
			}
			s.levels["backlog"] += backlog
			cpu = strconv.FormatInt(n, 10)
		}
		for _, c := range softnetColumns {
			if c.column >= len(f) {
				continue
			}
			n, err := at(c.column)
			if err != nil {
				return err
			}
			s.counts[c.name+"@"+cpu] = n
			s.counts[c.name] += n
		}
		number++
	}
	return nil
}

// onlineCPUs reads "0-3,8" from sysfs; nil where it is not to be had.
func onlineCPUs(root string) []string {
	text, err := os.ReadFile(filepath.Join(root, "sys/devices/system/cpu/online"))
	if err != nil {
		return nil
	}
	var cpus []string
	for part := range strings.SplitSeq(strings.TrimSpace(string(text)), ",") {
		first, last, is := strings.Cut(part, "-")
		if !is {
			last = first
		}
		a, err := strconv.Atoi(first)
		b, err2 := strconv.Atoi(last)
		const most = 1 << 16 // CPUs of any machine
		if err != nil || err2 != nil || a < 0 || b < a || b >= most {
			return nil
		}
		for n := a; n <= b; n++ {
			cpus = append(cpus, strconv.Itoa(n))
		}
	}
	return cpus
}
