package counters

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// threadSource tells of the worker's threads.
//
// CPU time and switches of all are the process's own sums, which have threads
// that have ended in them, less those of the excluded threads. Waiting time and
// timeslices the kernel tells of each thread that there is: of one that has
// ended in between they are what it had when it was last seen, and "ended" says
// how many such there are.
type threadSource struct {
	root string
	list *threads
	open map[int]*threadFiles // by tid
	last map[int]threadFigures
	dead map[int]threadFigures // of threads that have ended; by tid
	past threadFigures         // sum of ended ones whose tid is another's now
	// ended counts all of them.
	ended int64
	buf   []byte
}

// openThreads opens the worker's own part of /proc. Counts: run_ns,
// run_delay_ns (ready, but without a CPU), timeslices, voluntary_switches and
// involuntary_switches of all threads but the sampler's own and those that soak
// up CPU time; "ended", threads that ended meanwhile, whose last waiting time
// and timeslices are not in the sums; and for each traffic thread the same as
// "trafficN.run_ns" and so on, with trafficN.minor_faults and
// trafficN.major_faults. Levels: "threads", all there are, and "trafficN.cpu",
// where that thread ran last.
//
// A traffic thread that has ended told of itself when its window was over or, if
// it has none of its own, before it ended.
func openThreads(o *Options) (source, error) {
	s := &threadSource{
		root: o.root, list: o.threads, buf: make([]byte, 8<<10),
		open: map[int]*threadFiles{}, last: map[int]threadFigures{}, dead: map[int]threadFigures{},
	}
	if _, err := s.take(); err != nil {
		s.close()
		return nil, reason(err)
	}
	return s, nil
}

func (s *threadSource) take() (*sample, error) {
	traffic, excluded := s.list.all()
	tids, err := s.tids()
	if err != nil {
		return nil, err
	}
	x := newSample()
	for _, tid := range tids {
		isTraffic := slices.ContainsFunc(traffic, func(t thread) bool { return t.tid == tid })
		if err := s.read(tid, isTraffic, isTraffic || slices.Contains(excluded, tid)); err != nil {
			return nil, err
		}
	}
	for tid := range s.open {
		if !slices.Contains(tids, tid) {
			s.bury(tid)
		}
	}
	sum := threadFigures{delay: s.past.delay, timeslices: s.past.timeslices}
	var apart threadFigures
	for _, known := range []map[int]threadFigures{s.last, s.dead} {
		for tid, f := range known {
			if slices.Contains(excluded, tid) {
				apart.run += f.run
				apart.voluntary += f.voluntary
				apart.involuntary += f.involuntary
				continue
			}
			sum.delay += f.delay
			sum.timeslices += f.timeslices
		}
	}
	if err := processFigures(&sum); err != nil {
		return nil, err
	}
	x.counts["run_ns"] = sum.run - apart.run
	x.counts["run_delay_ns"] = sum.delay
	x.counts["timeslices"] = sum.timeslices
	x.counts["voluntary_switches"] = sum.voluntary - apart.voluntary
	x.counts["involuntary_switches"] = sum.involuntary - apart.involuntary
	x.counts["ended"] = s.ended
	x.levels["threads"] = int64(len(s.open))
	for _, t := range traffic {
		s.tell(t, x)
	}
	return x, nil
}

// tell adds a traffic thread to the sample.
func (s *threadSource) tell(t thread, x *sample) {
	f, there := s.last[t.tid]
	if !there {
		f, there = s.dead[t.tid]
		if t.final != nil {
			f.run, f.delay, f.timeslices = t.final.run, t.final.delay, t.final.timeslices
			f.voluntary, f.involuntary = t.final.voluntary, t.final.involuntary
			f.minor, f.major, there = t.final.minor, t.final.major, true
		}
	}
	if !there {
		return
	}
	name := "traffic" + strconv.Itoa(t.number) + "."
	x.counts[name+"run_ns"] = f.run
	x.counts[name+"run_delay_ns"] = f.delay
	x.counts[name+"timeslices"] = f.timeslices
	x.counts[name+"voluntary_switches"] = f.voluntary
	x.counts[name+"involuntary_switches"] = f.involuntary
	x.counts[name+"minor_faults"] = f.minor
	x.counts[name+"major_faults"] = f.major
	if f.cpu >= 0 {
		x.levels[name+"cpu"] = f.cpu
	}
}

// read brings what is known of a thread up to date. One that ends meanwhile is
// no error.
func (s *threadSource) read(tid int, traffic, all bool) error {
	f := s.open[tid]
	if f != nil && all && f.status < 0 { // it was not known yet what it is
		f.close()
		f = nil
	}
	if f == nil {
		var err error
		if f, err = openThread(s.root, tid, all); err != nil {
			return s.gone(tid, err)
		}
		s.open[tid] = f
		if traffic {
			s.list.opened(tid, f.schedstat)
		}
	}
	t, err := f.read(s.buf)
	if errors.Is(err, unix.ESRCH) { // or the number is another thread's now
		s.bury(tid)
		return nil
	}
	if err != nil {
		return fmt.Errorf("thread %d: %w", tid, err)
	}
	s.last[tid] = t
	return nil
}

func (s *threadSource) gone(tid int, err error) error {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) {
		s.bury(tid)
		return nil
	}
	return err
}

// bury keeps what a thread that has ended had counted.
func (s *threadSource) bury(tid int) {
	f, known := s.open[tid]
	if known {
		s.list.opened(tid, 0)
		f.close()
		delete(s.open, tid)
	}
	if last, had := s.last[tid]; had {
		if before, again := s.dead[tid]; again {
			s.past.delay += before.delay
			s.past.timeslices += before.timeslices
		}
		s.dead[tid] = last
		s.ended++
		delete(s.last, tid)
	}
}

// processFigures fills in what the kernel sums up over all threads of this
// process, ended ones included.
func processFigures(sum *threadFigures) error {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return fmt.Errorf("read the process's switches (getrusage): %w", err)
	}
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts); err != nil {
		return fmt.Errorf("read the process's CPU time (clock_gettime): %w", err)
	}
	sum.run, sum.voluntary, sum.involuntary = ts.Nano(), u.Nvcsw, u.Nivcsw
	return nil
}

// tids are the process's threads.
func (s *threadSource) tids() ([]int, error) {
	d, err := os.Open(filepath.Join(s.root, "proc/self/task"))
	if err != nil {
		return nil, fmt.Errorf("list the worker's threads: %w", err)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list the worker's threads: %w", err)
	}
	var tids []int
	for _, n := range names {
		if tid, err := strconv.Atoi(n); err == nil {
			tids = append(tids, tid)
		}
	}
	if len(tids) == 0 {
		return nil, errors.New("/proc/self/task lists no threads")
	}
	return tids, nil
}

func (s *threadSource) close() error {
	for _, tid := range slices.Collect(maps.Keys(s.open)) {
		s.list.opened(tid, 0)
		s.open[tid].close()
		delete(s.open, tid)
	}
	return nil
}
