package knob

import (
	"strconv"
	"strings"
)

// interruptLine is one line of /proc/interrupts (proc_interrupts(5)) that is of a
// device.
type interruptLine struct {
	number string
	// count is of all CPUs together.
	count uint64
	names string // what stands behind the counts
}

// interruptLines reads the numbered lines of /proc/interrupts.
func interruptLines(text string) []interruptLine {
	head, rest, _ := strings.Cut(text, "\n")
	cpus := len(strings.Fields(head))
	var all []interruptLine
	for line := range strings.Lines(rest) {
		number, counts, ok := strings.Cut(strings.TrimSpace(line), ":")
		if _, err := strconv.ParseUint(number, 10, 31); err != nil || !ok {
			continue
		}
		l := interruptLine{number: number}
		words := strings.Fields(counts)
		for i := range min(cpus, len(words)) {
			n, err := strconv.ParseUint(words[i], 10, 64)
			if err != nil {
				break
			}
			l.count += n
		}
		l.names = strings.Join(words[min(cpus, len(words)):], " ")
		all = append(all, l)
	}
	return all
}
