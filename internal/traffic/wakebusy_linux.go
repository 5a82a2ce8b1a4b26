package traffic

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// busyLoops are loops that keep CPUs from having nothing to do while threads wake
// each other there: one thread on each CPU, of idle priority, which gives way to
// whatever else wants the CPU but never lets it sleep, or of the ordinary class,
// which has its share of it. They allocate nothing while they run.
//
// A loop holds one of the runtime's places (GOMAXPROCS). It lets the runtime
// interrupt it only once in a breath, since each time costs two changes of threads.
type busyLoops struct {
	idle  bool // of idle priority
	cpus  []int
	err   error // why cpus is not known
	usage *Usage

	tids []int
	gone []chan struct{}

	_    [128]byte
	halt atomic.Bool
	_    [128]byte
}

// A piece of a loop is some 0.4 us on a CPU of 3 GHz, and a breath some 50 ms.
const (
	busyPiece  = 256
	busyBreath = 1 << 17
)

// newBusyLoops are the loops that a wake test asks for, on the CPUs of its threads,
// or on all that can be used where these are not bound; nil for none. The calling
// thread must not be bound.
func newBusyLoops(cfg *Config) *busyLoops {
	if cfg.Test.Params.Busy == "" {
		return nil
	}
	b := &busyLoops{idle: cfg.Test.Params.Busy == spec.WakeAwake, usage: cfg.Usage}
	for i := range cfg.Test.EndThreads() {
		b.cpus = append(b.cpus, cfg.ThreadCPU(i))
	}
	if slices.Contains(b.cpus, sys.NoCPU) {
		b.cpus, b.err = sys.OnlineCPUs()
	}
	slices.Sort(b.cpus)
	b.cpus = slices.Compact(b.cpus)
	return b
}

// start has the loops run beside so many threads of the test; it returns when each
// has its CPU and its class. Of nil it does nothing, as stop does.
func (b *busyLoops) start(threads int) error {
	if b == nil {
		return nil
	}
	if b.err != nil {
		return fmt.Errorf("find the CPUs to keep busy: %w", b.err)
	}
	// Made now: later, all loops would have to stop for it. See crew.
	if n := threads + len(b.cpus) + 1; runtime.GOMAXPROCS(0) < n {
		runtime.GOMAXPROCS(n)
	}
	b.tids, b.gone = make([]int, len(b.cpus)), make([]chan struct{}, len(b.cpus))
	errs := make(chan error, len(b.cpus))
	begin := make(chan struct{})
	for i, cpu := range b.cpus {
		b.gone[i] = make(chan struct{})
		go func() {
			defer close(b.gone[i])
			err := sys.PinThread(cpu)
			if err == nil && b.idle {
				err = sys.SetIdle()
			}
			b.tids[i] = sys.ThreadID()
			errs <- err
			if <-begin; err == nil {
				b.spin()
			}
			// The thread ends with this goroutine, which is locked to it.
		}()
	}
	var err error
	for range b.cpus {
		err = errors.Join(err, <-errs)
	}
	if err != nil {
		b.halt.Store(true)
	}
	b.apart()
	close(begin)
	if err != nil {
		b.stop()
		return fmt.Errorf("keep %s busy: %w", list(b.cpus), err)
	}
	return nil
}

// apart leaves the loops' time out of what the engine took.
func (b *busyLoops) apart() {
	if b.usage == nil {
		return
	}
	others := b.usage.Apart
	b.usage.Apart = func() (sum int64) {
		for _, tid := range b.tids {
			if n, err := sys.ThreadTime(tid); err == nil {
				sum += n
			}
		}
		if others != nil {
			sum += others()
		}
		return sum
	}
}

// spin works until halt, without memory and without the kernel.
func (b *busyLoops) spin() {
	x := uint64(1)
	for n := 1; !b.halt.Load(); n++ {
		if x = busyWork(x); n%busyBreath == 0 {
			runtime.Gosched()
		}
	}
}

//go:noinline
func busyWork(x uint64) uint64 {
	for range busyPiece {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// stop ends the loops, and returns when their threads do nothing any more.
func (b *busyLoops) stop() {
	if b == nil {
		return
	}
	b.halt.Store(true)
	for _, gone := range b.gone {
		<-gone
	}
}
