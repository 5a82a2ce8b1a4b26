package counters

import (
	"bytes"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// threadFiles are one thread's files below /proc/self/task, open as long as the
// sampler is: opening is most of what reading one costs.
type threadFiles struct {
	tid       int
	schedstat int
	// Of traffic threads and of those to leave out; -1 of the others, of which
	// the process's sum tells.
	status, stat int
}

func openThread(root string, tid int, all bool) (*threadFiles, error) {
	f := &threadFiles{tid: tid, schedstat: -1, status: -1, stat: -1}
	dir := root + "/proc/self/task/" + strconv.Itoa(tid) + "/"
	for _, x := range []struct {
		name string
		fd   *int
		want bool
	}{{"schedstat", &f.schedstat, true}, {"status", &f.status, all}, {"stat", &f.stat, all}} {
		if !x.want {
			continue
		}
		fd, err := unix.Open(dir+x.name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			f.close()
			return nil, fmt.Errorf("open %s of thread %d: %w", x.name, tid, err)
		}
		*x.fd = fd
	}
	return f, nil
}

func (f *threadFiles) close() {
	for _, fd := range []*int{&f.schedstat, &f.status, &f.stat} {
		if *fd >= 0 {
			unix.Close(*fd)
			*fd = -1
		}
	}
}

// read returns what the files tell. buf is for their text. An error wraps ESRCH
// if the thread has ended.
func (f *threadFiles) read(buf []byte) (t threadFigures, err error) {
	t.cpu = -1
	// schedstat has the CPU time as of the latest tick or switch; the thread's
	// clock has it as of now (CPUCLOCK_PERTHREAD of posix-timers_types.h), and
	// brings what schedstat and the process's clock tell up to date too.
	var ts unix.Timespec
	clock := unix.ClockGettime(int32(^f.tid<<3|6), &ts)
	if t.run, t.delay, t.timeslices, err = readSchedstat(f.schedstat, buf); err != nil {
		return t, err
	}
	if clock == nil {
		t.run = ts.Nano()
	}
	if f.status < 0 {
		return t, nil
	}
	n, err := unix.Pread(f.status, buf, 0)
	if err == nil {
		t.voluntary, t.involuntary, err = parseSwitches(buf[:n])
	}
	if err == nil {
		n, err = unix.Pread(f.stat, buf, 0)
	}
	if err == nil {
		t.minor, t.major, t.cpu, err = parseThreadStat(buf[:n])
	}
	return t, err
}

// readSchedstat reads CPU time, waiting time and timeslices of a thread
// (Documentation/scheduler/sched-stats.rst).
func readSchedstat(fd int, buf []byte) (run, delay, timeslices int64, err error) {
	n, err := unix.Pread(fd, buf, 0)
	if err != nil {
		return 0, 0, 0, fmt.Errorf("read a thread's schedstat: %w", err)
	}
	return parseSchedstat(buf[:n])
}

func parseSchedstat(text []byte) (run, delay, timeslices int64, err error) {
	var n [3]int64
	for i := range n {
		text = bytes.TrimLeft(text, " ")
		end := len(text)
		if at := bytes.IndexAny(text, " \n"); at >= 0 {
			end = at
		}
		if n[i], err = strconv.ParseInt(string(text[:end]), 10, 64); err != nil {
			return 0, 0, 0, fmt.Errorf("a thread's schedstat has %q for a number", shortened(text[:end]))
		}
		text = text[end:]
	}
	return n[0], n[1], n[2], nil
}

// parseSwitches finds the switches in a thread's status (proc_pid_status(5)).
func parseSwitches(text []byte) (voluntary, involuntary int64, err error) {
	for _, x := range []struct {
		name string
		to   *int64
	}{{"\nvoluntary_ctxt_switches:", &voluntary}, {"\nnonvoluntary_ctxt_switches:", &involuntary}} {
		at := bytes.Index(text, []byte(x.name))
		if at < 0 {
			return 0, 0, fmt.Errorf("a thread's status has no %q", x.name[1:])
		}
		line, _, _ := bytes.Cut(text[at+len(x.name):], []byte("\n"))
		if *x.to, err = strconv.ParseInt(string(bytes.TrimSpace(line)), 10, 64); err != nil {
			return 0, 0, fmt.Errorf("a thread's status has %q for %q", shortened(line), x.name[1:])
		}
	}
	return voluntary, involuntary, nil
}

// parseThreadStat finds page faults and the CPU in a thread's stat
// (proc_pid_stat(5): minflt is field 10, majflt 12, processor 39). The name,
// field 2, may hold anything.
func parseThreadStat(text []byte) (minor, major, cpu int64, err error) {
	f := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const first = 3 // number of the field after the name
	if len(f) <= 39-first {
		return 0, 0, 0, fmt.Errorf("a thread's stat has %d fields after its name", len(f))
	}
	for _, x := range []struct {
		field int
		to    *int64
	}{{10, &minor}, {12, &major}, {39, &cpu}} {
		if *x.to, err = strconv.ParseInt(string(f[x.field-first]), 10, 64); err != nil {
			return 0, 0, 0, fmt.Errorf("field %d of a thread's stat is %q", x.field, shortened(f[x.field-first]))
		}
	}
	return minor, major, cpu, nil
}

// ownFigures is what the kernel has counted of the calling thread, whose
// schedstat is open.
func ownFigures(schedstat int) (t threadFigures, err error) {
	var u unix.Rusage
	var ts unix.Timespec
	if err = unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		return t, fmt.Errorf("read a thread's own use (getrusage): %w", err)
	}
	if err = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		return t, fmt.Errorf("read a thread's own CPU time (clock_gettime): %w", err)
	}
	var buf [128]byte
	if _, t.delay, t.timeslices, err = readSchedstat(schedstat, buf[:]); err != nil {
		return t, err
	}
	t.run, t.cpu = ts.Nano(), -1
	t.voluntary, t.involuntary, t.minor, t.major = u.Nvcsw, u.Nivcsw, u.Minflt, u.Majflt
	return t, nil
}

// shortened is the beginning of a text for an error.
func shortened(text []byte) string { return string(text[:min(len(text), 40)]) }
