package traffic

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"netdelta/internal/sys"
)

// crew has n threads do a part of a run each. Part 0 is done by the calling
// thread, which is bound already; the others get threads of their own, bound to
// their CPU and of the class that the test asks for (BindThread). No part begins before
// all threads are ready. If one fails, stop is called, once, so that the others
// end too.
func crew(cfg *Config, n int, part func(i int) error, stop func()) error {
	// Each thread keeps its place while it waits in the kernel, and one more is
	// needed beside them.
	if have := runtime.GOMAXPROCS(0); have < n+1 {
		runtime.GOMAXPROCS(n + 1)
	}
	var ready, done sync.WaitGroup
	var once sync.Once
	begin := make(chan struct{})
	errs := make([]error, n)
	work := func(i int) {
		if errs[i] = part(i); errs[i] != nil {
			once.Do(stop)
		}
	}
	bound := make([]error, n)
	for i := 1; i < n; i++ {
		ready.Add(1)
		done.Add(1)
		go func() {
			defer done.Done()
			bound[i] = BindThread(cfg, i)
			ready.Done()
			if <-begin; errors.Join(bound...) == nil {
				work(i)
				cfg.Usage.left()
			}
			// The thread ends with this goroutine, which is locked to it.
		}()
	}
	ready.Wait()
	err := joined(bound...)
	close(begin)
	if err == nil {
		work(0)
	}
	done.Wait()
	return joined(append(errs, err)...)
}

// joined is the errors of several threads as one, nil for none: each different
// text once, in one line.
func joined(errs ...error) error {
	var all []any
	var texts []string
	for _, err := range errs {
		if err != nil && !slices.Contains(texts, err.Error()) {
			all, texts = append(all, err), append(texts, err.Error())
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0].(error)
	}
	return fmt.Errorf(strings.Repeat("%w; ", len(all)-1)+"%w", all...)
}

// CheckThreads reports the first traffic thread of this end whose CPU there is
// not. The calling thread must not be bound yet.
func CheckThreads(cfg *Config) error {
	for i := range cfg.Test.EndThreads() {
		if err := sys.CheckCPU(cfg.ThreadCPU(i)); err != nil {
			return fmt.Errorf("traffic thread %d: %w", i, err)
		}
	}
	return nil
}

// BindThread makes the calling goroutine's thread the ith traffic thread: it
// locks the one to the other, binds the thread to its CPU, and gives it the
// priority that the test asks for (sys.SetFIFO). Engines wait in the kernel
// rather than spin, so that such threads leave their CPU to others; but a stream
// that nothing holds back hardly waits, and what shares its CPU, the agent
// perhaps, then gets little of it. The error wraps fs.ErrPermission where the
// privilege for the priority is missing.
func BindThread(cfg *Config, i int) error {
	err := sys.PinThread(cfg.ThreadCPU(i))
	if fifo := cfg.Test.Params.FIFO; err == nil && fifo != 0 {
		err = sys.SetFIFO(fifo)
	}
	if err != nil {
		return fmt.Errorf("traffic thread %d: %w", i, err)
	}
	if cfg.valve != nil {
		i++ // the first is that of the test which the stream is beside
	}
	cfg.Usage.thread(i)
	return nil
}
