package counters

import (
	"bytes"
	"strings"
)

// openInterrupts opens /proc/interrupts. Counts: "LINE NAME@N", how often the
// line interrupted CPU N, as in "41 virtio3-rx@0"; a line that has letters for
// a number goes by them alone ("LOC@1", proc_interrupts(5)). "device" is the sum
// of the lines of the path's interface, and level "device_lines" how many those
// are: none of a virtual interface, or of one that polls.
func openInterrupts(o *Options) (source, error) {
	lines := deviceLines(o)
	return openFile(o, "proc/interrupts", func(text []byte, s *sample) error {
		return parseInterrupts(text, lines, s)
	})
}

func parseInterrupts(text []byte, device *lineOwner, s *sample) error {
	s.sparse, s.bits = true, bits32
	header, rest, _ := bytes.Cut(text, []byte("\n"))
	cpus, err := cpuColumns(header)
	if err != nil {
		return err
	}
	var sum, lines int64
	for line := range bytes.Lines(rest) {
		number, line, found := bytes.Cut(line, []byte(":"))
		if !found {
			continue
		}
		name := string(bytes.TrimSpace(number))
		counts, about := cpuCounts(line, len(cpus))
		own := false
		if name != "" && name[0] >= '0' && name[0] <= '9' {
			action := lineAction(about)
			own = device.owns(name, action)
			name = strings.TrimRight(name+" "+action, " ")
		}
		if own {
			lines++
		}
		if len(counts) < len(cpus) { // a sum: ERR and MIS
			if len(counts) == 1 {
				s.counts[name] = counts[0]
			}
			continue
		}
		for i, n := range counts {
			if own {
				sum += n
			}
			if n > 0 {
				s.counts[name+"@"+cpus[i]] += n
			}
		}
	}
	s.levels["device_lines"] = lines
	if lines > 0 {
		s.counts["device"] = sum
	}
	return nil
}

// lineAction is what an interrupt line is for, without the chip and the
// trigger before it: two blanks come in front (show_interrupts of
// kernel/irq/proc.c). Those that share a line are separated by commas.
func lineAction(about []byte) string {
	about = bytes.TrimSpace(about)
	if at := bytes.LastIndex(about, []byte("  ")); at >= 0 {
		about = about[at+2:]
	}
	return string(about)
}
