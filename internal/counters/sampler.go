package counters

import (
	"net/netip"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"netdelta/internal/result"
)

// Options says what a sampler is to read, and of what.
type Options struct {
	// Sources are names of the table's rows, or the words for several of them;
	// none stands for the default.
	Sources []string
	// Addr is the end's own address on the path, by which its interface is
	// found, and Device that interface where it is known.
	Addr   netip.Addr
	Device string
	// CPUs are those that figures of CPU time are of; nil for all.
	CPUs []int
	// OneMachine and Shared are as result.Counters has them.
	OneMachine, Shared bool
	// Window is how long the end's window is to be; 0 if only Over tells.
	Window time.Duration
	// Paces says that the end itself notices when its window is over, as one
	// that sets the pace does, and so tells Over then. The other end is told by
	// no message if none comes any more: its window is taken to be over after
	// its time.
	Paces bool
	// Realtime says that traffic threads have a real-time priority, so that
	// other threads may get nothing of their CPUs.
	Realtime bool
	// Soak has a loop of idle priority run on each of CPUs.
	Soak bool
	// Threads is how many traffic threads the process will have beside those
	// loops; 0 stands for one.
	Threads int

	root    string // "/" but for tests
	sockets *sockets
	threads *threads
}

// Sampler reads this machine's counters around one window of one end: just
// before it opens and as soon as it is over, so that nothing is read while it
// is open. It is told of the window by the traffic threads
// (traffic.Watcher); a thread of its own does the reading.
//
// Life: New, Baseline, Begin, then the Watcher's methods, then Finish. Close
// gives everything up in any state.
type Sampler struct {
	o       Options
	taking  []taking // in the order of the table
	missing []result.Fact
	quiet   []result.Reading

	bell  *bell         // wakes watch when what it waits for has come
	stop  atomic.Bool   // the trial has ended
	done  chan struct{} // closed when both samples of the window are there
	began bool
	// patience is how long the sampler's thread is waited for at the end, and
	// lost says that it never came: what it has is its own then.
	patience time.Duration
	lost     bool
	closed   bool

	// What Warm and Over were told first; 0 before.
	opensAt, overAt atomic.Int64
	opens, ended    int64         // the window, as watch saw it; of sys.Nanotime
	visiting        time.Duration // what visit took the last time
}

// taking is a source with its samples.
type taking struct {
	row
	source
	before, after           *sample // around the window
	wholeBefore, wholeAfter *sample
	failed, wholeFailed     error
}

// New opens the sources that are asked for. One that this machine has not, or
// that this user may not read, is missing with its reason, which is no error.
func New(o Options) (*Sampler, error) {
	if err := CheckNames(o.Sources); err != nil {
		return nil, err
	}
	if o.root == "" {
		o.root = "/"
	}
	if len(o.CPUs) == 0 {
		o.CPUs = machineCPUs(o.root)
	}
	if o.Device == "" && o.Addr.IsValid() {
		o.Device = deviceOf(o.Addr)
	}
	o.sockets, o.threads = &sockets{}, &threads{}
	b, err := newBell()
	if err != nil {
		return nil, err
	}
	s := &Sampler{o: o, patience: endTime, bell: b, done: make(chan struct{})}
	for _, r := range rows(o.Sources) {
		s.open(r)
	}
	if o.Soak {
		s.open(soakRow)
	}
	if s.visits() {
		s.visiting = time.Duration(len(s.o.CPUs)) * perVisit
	}
	return s, nil
}

func (s *Sampler) open(r row) {
	source, err := r.open(&s.o)
	if err != nil {
		s.miss(r.name, err)
		return
	}
	s.taking = append(s.taking, taking{row: r, source: source})
}

func (s *Sampler) miss(name string, err error) {
	s.missing = append(s.missing, result.Fact{Name: name, Value: err.Error()})
}

// Baseline looks for so long at what the CPUs do while nothing of the test
// runs. Of a nil Sampler this, Begin, Finish and Close do nothing.
func (s *Sampler) Baseline(d time.Duration) {
	if s == nil || d <= 0 {
		return
	}
	var quiet []*taking
	for i := range s.taking {
		if n := s.taking[i].name; n == result.SourceCPU || n == result.SourceIdle {
			quiet = append(quiet, &s.taking[i])
		}
	}
	if len(quiet) == 0 {
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := map[*taking]*sample{}
	s.visit()
	for _, t := range quiet {
		if x, err := t.now(); err == nil {
			before[t] = x
		}
	}
	if s.wait(now()+int64(d), s.stop.Load); s.stop.Load() {
		return
	}
	s.visit()
	for _, t := range slices.Backward(quiet) {
		x, err := t.now()
		if err != nil || before[t] == nil {
			continue
		}
		if r, err := reading(t.name, before[t], x); err == nil {
			s.quiet = append(s.quiet, r)
		}
	}
}

// now takes a sample, at the time that the source itself says, or else half way
// through.
func (t *taking) now() (*sample, error) {
	begin := now()
	x, err := t.take()
	if err != nil {
		return nil, err
	}
	if x.at == 0 {
		x.at = begin + (now()-begin)/2
	}
	return x, nil
}

// Begin reads what is read around the whole trial, and has the sampler wait
// for the window. It is called before any message.
func (s *Sampler) Begin() {
	if s == nil {
		return
	}
	for i := range s.taking {
		if t := &s.taking[i]; t.whole {
			t.wholeBefore, t.wholeFailed = t.now()
		}
	}
	s.began = true
	onOwnThread(s.watch)
}

// Warm is told when the window will open. Only the first thread's counts.
func (s *Sampler) Warm(opens int64) {
	if s.opensAt.CompareAndSwap(0, opens) {
		s.bell.ring()
	}
}

// Over is told that a window is over, and when it was. The first thread's
// counts: until then all were at work.
func (s *Sampler) Over(ended int64) {
	first := s.overAt.CompareAndSwap(0, ended)
	s.o.threads.over()
	if first {
		s.bell.ring()
	}
}

// Thread is told of a traffic thread.
func (s *Sampler) Thread(number, tid int) { s.o.threads.add(number, tid) }

// Left is told by a traffic thread that may end: it tells of itself, if it has
// not yet.
func (s *Sampler) Left() { s.o.threads.over() }

// Socket is told of a socket that lasts as long as the test.
func (s *Sampler) Socket(fd int) { s.o.sockets.add(fd) }
