package counters

import (
	"bytes"
	"fmt"
	"strconv"
)

// openIdle opens /proc/timer_list, which only root may read. Counts:
// "cpuN.idle", the time for which that CPU had nothing to run, in nanoseconds:
// idle_sleeptime and, since a CPU does as little while a thread of its own waits
// for a disk, iowait_sleeptime. These are the numbers that /proc/stat shows in
// steps of ten milliseconds (get_cpu_idle_time_us of kernel/time/tick-sched.c).
// The time is as of the moment at which the kernel began the list.
//
// The kernel adds to them when a CPU wakes. To one that sleeps, with its tick
// stopped, what it has slept so far is added here; one that sleeps with its tick
// running wakes within a tick (10 ms at most), until which its latest sleep is
// missing.
func openIdle(o *Options) (source, error) {
	s, err := openFile(o, "proc/timer_list", parseTimerList)
	if err != nil {
		return nil, fmt.Errorf("%w: root may read it, outside of containers that hide it, where the kernel stops idle CPUs' ticks (CONFIG_NO_HZ)", err)
	}
	return s, nil
}

// parseTimerList reads the text of kernel/time/timer_list.c.
func parseTimerList(text []byte, s *sample) error {
	const header = "now at "
	var c idleCPU
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		switch {
		case bytes.HasPrefix(line, []byte(header)):
			at, err := parseFirst(line[len(header):])
			if err != nil {
				return fmt.Errorf("time of the list: %w", err)
			}
			s.at = at
		case bytes.HasPrefix(line, []byte("cpu: ")):
			c.tell(s)
			c = idleCPU{name: "cpu" + string(line[len("cpu: "):]), now: s.at, mode: 1}
		case bytes.HasPrefix(line, []byte(".")):
			name, value, _ := bytes.Cut(line[1:], []byte(":"))
			to := c.field(string(bytes.TrimSpace(name)))
			if to == nil {
				continue
			}
			n, err := parseFirst(bytes.TrimSpace(value))
			if err != nil {
				return fmt.Errorf("%s of %s: %w", bytes.TrimSpace(name), c.name, err)
			}
			*to = n
		}
	}
	c.tell(s)
	return nil
}

// idleCPU is what the list says of one CPU; in nanoseconds of the monotonic
// clock, but for stopped.
type idleCPU struct {
	name                  string
	now                   int64
	stopped               int64 // whether its tick is
	entry, exit           int64 // of its latest sleeps
	idleTime, waitingTime int64
	mode                  int64 // 0 where the kernel keeps no such times
	known                 bool
}

func (c *idleCPU) field(name string) *int64 {
	switch name {
	case "nohz", "nohz_mode": // as Linux calls it since 6.10, and did before
		return &c.mode
	case "tick_stopped":
		return &c.stopped
	case "idle_entrytime":
		return &c.entry
	case "idle_exittime":
		return &c.exit
	case "idle_sleeptime":
		c.known = true
		return &c.idleTime
	case "iowait_sleeptime":
		return &c.waitingTime
	}
	return nil
}

// tell adds the CPU to a sample. A tick can be stopped on a CPU that is busy
// too (nohz_full); but the end of a sleep is then later than its beginning.
func (c *idleCPU) tell(s *sample) {
	if !c.known || c.mode == 0 {
		return
	}
	idle := c.idleTime + c.waitingTime
	if c.stopped != 0 && c.entry > c.exit {
		idle += max(c.now-c.entry, 0)
	}
	s.counts[c.name+".idle"] = idle
}

// parseFirst reads the number that a text begins with.
func parseFirst(text []byte) (int64, error) {
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(string(text[:end]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number", text[:min(len(text), 40)])
	}
	return n, nil
}
