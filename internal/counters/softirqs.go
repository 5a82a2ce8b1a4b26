package counters

import "bytes"

// openSoftirqs opens /proc/softirqs. Counts: "NET_RX@N", how often that kind
// of softirq ran on CPU N, and "NET_RX", the sum of all CPUs; for each kind that
// the kernel has (proc(5)).
func openSoftirqs(o *Options) (source, error) { return openFile(o, "proc/softirqs", parseSoftirqs) }

func parseSoftirqs(text []byte, s *sample) error {
	s.sparse, s.bits = true, bits32
	header, rest, _ := bytes.Cut(text, []byte("\n"))
	cpus, err := cpuColumns(header)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(rest) {
		name, line, found := bytes.Cut(line, []byte(":"))
		if !found {
			continue
		}
		kind := string(bytes.TrimSpace(name))
		counts, _ := cpuCounts(line, len(cpus))
		sum := int64(0)
		for i, n := range counts {
			sum += n
			if n > 0 {
				s.counts[kind+"@"+cpus[i]] = n
			}
		}
		s.counts[kind] = sum
	}
	return nil
}
