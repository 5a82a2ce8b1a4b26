package counters

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
)

// eventSource has one group of counters for each CPU, which run all together
// or not at all, so that one read tells of all of them.
type eventSource struct {
	events []perfEvent
	cpus   []eventCPU
}

type eventCPU struct {
	number int
	fds    []int // the group's leader first
	total  eventTotal
}

// eventAttrSize is PERF_ATTR_SIZE_VER0: the part of the structure that every
// kernel knows has all that is used of it.
const eventAttrSize = 64

func openEvents(o *Options, events []perfEvent) (source, error) {
	if len(o.CPUs) == 0 {
		return nil, unavailable("there is no CPU to count %s on", events[0].name)
	}
	s := &eventSource{events: events}
	for _, cpu := range o.CPUs {
		c := eventCPU{number: cpu}
		for _, e := range events {
			// The others run when their leader does, which begins when the
			// group is complete.
			leader, bits := -1, uint64(unix.PerfBitDisabled)
			if len(c.fds) > 0 {
				leader, bits = c.fds[0], 0
			}
			attr := unix.PerfEventAttr{
				Type: e.kind, Size: eventAttrSize, Config: e.config, Bits: bits,
				Read_format: unix.PERF_FORMAT_GROUP | unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
			}
			fd, err := unix.PerfEventOpen(&attr, -1, cpu, leader, unix.PERF_FLAG_FD_CLOEXEC)
			if err != nil {
				s.cpus = append(s.cpus, c)
				return nil, errors.Join(refused(o, fmt.Sprintf("count %s on CPU %d (perf_event_open)", e.name, cpu), err), s.close())
			}
			c.fds = append(c.fds, fd)
		}
		s.cpus = append(s.cpus, c)
		if err := unix.IoctlSetInt(c.fds[0], unix.PERF_EVENT_IOC_ENABLE, 0); err != nil {
			return nil, errors.Join(refused(o, fmt.Sprintf("begin to count on CPU %d (PERF_EVENT_IOC_ENABLE)", cpu), err), s.close())
		}
	}
	return s, nil
}

// refused says what is missing where a counter can't be had.
func refused(o *Options, tried string, err error) error {
	e := &feature.Error{Feature: "counters of CPU events", Tried: tried, Kernel: feature.Kernel().String(), Err: err}
	switch {
	case errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM):
		const file = "proc/sys/kernel/perf_event_paranoid"
		level := "unknown"
		if text, err := os.ReadFile(filepath.Join(o.root, file)); err == nil {
			level = strings.TrimSpace(string(text))
		}
		e.Need = "root or CAP_PERFMON (before Linux 5.8 CAP_SYS_ADMIN), or the sysctl kernel.perf_event_paranoid at 0 or lower, which is " + level
		e.Advice = "sysctl kernel.perf_event_paranoid=0"
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENODEV):
		e.Need = "a CPU with a performance monitoring unit that the kernel knows; many virtual machines are given none"
	case errors.Is(err, unix.EMFILE):
		e.Need = "two descriptors for each CPU"
		e.Advice = "raise the limit (ulimit -n)"
	default:
		e.Need = "a kernel with CONFIG_PERF_EVENTS"
	}
	return e
}

func (s *eventSource) take() (*sample, error) {
	x := newSample()
	for i := range s.cpus {
		c := &s.cpus[i]
		now, err := readEvents(c.fds[0], len(c.fds))
		if err != nil {
			return nil, fmt.Errorf("read %s of CPU %d: %w", s.events[0].name, c.number, err)
		}
		ppm, err := c.total.add(now)
		if err != nil {
			return nil, fmt.Errorf("%s of CPU %d: %w", s.events[0].name, c.number, err)
		}
		nameEvents(x, s.events, c.number, &c.total, ppm)
	}
	return x, nil
}

// readEvents reads a group: the number of its events, the two times, and each
// event's count, 64 bits each.
func readEvents(fd, events int) (eventCount, error) {
	buf := make([]byte, 8*(3+events))
	n, err := unix.Read(fd, buf)
	if err != nil {
		return eventCount{}, err
	}
	word := func(i int) uint64 { return binary.NativeEndian.Uint64(buf[8*i:]) }
	if n != len(buf) || word(0) != uint64(events) {
		return eventCount{}, fmt.Errorf("%d bytes of %d: the kernel counts no more", n, len(buf))
	}
	c := eventCount{enabled: word(1), running: word(2)}
	for i := range events {
		c.values = append(c.values, word(3+i))
	}
	return c, nil
}

func (s *eventSource) close() error {
	var all error
	for _, c := range s.cpus {
		for _, fd := range c.fds {
			all = errors.Join(all, unix.Close(fd))
		}
	}
	s.cpus = nil
	return all
}
