//go:build linux || darwin || freebsd

package traffic

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
	"netdelta/internal/unit"
)

const (
	// loadLead is how long a stream flows before the test beside it begins: TCP
	// finds its speed in some round trips, and fills the queues.
	loadLead = 100 * time.Millisecond
	// loadWait is how long it may take to begin at all.
	loadWait = 2 * time.Second
	// loadSlack is how long a stream goes on, at most, after the test should
	// have been over: longer than the waits for its last answers.
	loadSlack = 10 * time.Second
	// portAttempts is how many ports of the kernel's choice are tried for one
	// that is free for both protocols.
	portAttempts = 16
)

// WarnLoad: the stream beside a test did not flow all the time.
const WarnLoad = "load"

// loadedTest is an end of a test beside which a stream flows: the engine of the
// test, on the calling thread, and that of the stream on others. They are of
// different protocols and have the same port.
//
// The local end has the stream begin first and end last. The stream's window
// begins half of loadLead and the test's warm-up after its first message, and
// ends with it.
type loadedTest struct {
	cfg     Config
	kind    spec.Kind // of the stream
	test    Engine
	load    Engine
	valve   valve
	stopped atomic.Bool // the stream's engine has returned
	odd     []result.Warning
}

func newLoadedTest(cfg Config) Engine {
	kind, _ := spec.KindOf(cfg.Test.Params.Load)
	return &loadedTest{cfg: cfg, kind: kind}
}

// configs are the two engines'. What is about the path and the threads rather
// than the messages goes for the stream too.
func (e *loadedTest) configs() (test, load Config, err error) {
	test, load = e.cfg, e.cfg
	test.Test.Params.Load = ""
	p := e.cfg.Test.Params
	load.Test, err = spec.NewTest(e.kind.Name, spec.Params{Mark: p.Mark, FIFO: p.FIFO})
	load.Warmup = min(loadLead/2+e.cfg.Warmup, spec.MaxWindow)
	load.Window = min(e.cfg.Window+loadSlack, spec.MaxWindow)
	load.Interval, load.Each, load.Live = 0, 0, false
	load.PortMin, load.PortMax = 0, 0
	load.CPU, load.CPUs = e.cfg.ThreadCPU(1), []int{e.cfg.ThreadCPU(2)}
	load.valve = &e.valve
	return test, load, err
}

func (e *loadedTest) Prepare() (port uint16, err error) {
	test, load, err := e.configs()
	if err != nil {
		return 0, err
	}
	ports := e.ports()
	for _, p := range ports {
		test.Port = p
		if port, err = e.prepare(test, load); err == nil || len(ports) == 1 || !errors.Is(err, unix.EADDRINUSE) {
			return port, err
		}
		if err := e.Close(); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("find a port that is free for UDP and for TCP, %s: %w", unit.Count(len(ports), "attempt"), err)
}

// ports are those to try: the one that is given, all of the range, beginning
// anywhere in it, or some that the kernel chooses.
func (e *loadedTest) ports() []uint16 {
	switch low, high := e.cfg.PortMin, e.cfg.PortMax; {
	case e.cfg.Port != 0:
		return []uint16{e.cfg.Port}
	case low == 0 || low > high: // no range, or one that the engines refuse
		return make([]uint16, portAttempts)
	default:
		n := int(high-low) + 1
		ports := make([]uint16, n)
		start := rand.IntN(n)
		for i := range ports {
			ports[i] = low + uint16((start+i)%n)
		}
		return ports
	}
}

// prepare prepares both engines on one port.
func (e *loadedTest) prepare(test, load Config) (port uint16, err error) {
	if test.Port != 0 {
		test.PortMin, test.PortMax = 0, 0
	}
	if e.test, err = New(test); err != nil {
		return 0, err
	}
	if port, err = e.test.Prepare(); err != nil {
		return 0, err
	}
	load.Port = port
	if e.load, err = New(load); err != nil {
		return 0, e.beside(err)
	}
	_, err = e.load.Prepare()
	return port, e.beside(err)
}

// beside is an error of the stream's.
func (e *loadedTest) beside(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s beside %s: %w", e.kind.Name, e.cfg.Test.Name, err)
}

func (e *loadedTest) Arm(peer netip.AddrPort) error {
	if err := e.test.Arm(peer); err != nil {
		return err
	}
	return e.beside(e.load.Arm(peer))
}

func (e *loadedTest) Run() (end result.End, err error) {
	var load result.End
	if n := e.cfg.Test.EndThreads() + 1; runtime.GOMAXPROCS(0) < n { // see crew
		runtime.GOMAXPROCS(n)
	}
	err = crew(&e.cfg, 2, func(i int) (err error) {
		if i == 0 {
			end, err = e.runTest()
			return err
		}
		load, err = e.load.Run()
		e.stopped.Store(true)
		return e.beside(err)
	}, e.stop)
	if err != nil {
		return result.End{}, err
	}
	e.count(&end, load)
	return end, nil
}

// runTest runs the test itself; at a local end while the stream flows.
func (e *loadedTest) runTest() (result.End, error) {
	local := e.cfg.Role == result.Local
	if local {
		e.awaitFlow()
	}
	end, err := e.test.Run()
	if local {
		if e.stopped.Load() {
			e.warn("it ended before the test was over: the last round trips had no load beside them", "look at the stream alone first")
		}
		e.valve.closed.Store(true)
	}
	return end, err
}

// awaitFlow waits until the stream has flowed for a while.
func (e *loadedTest) awaitFlow() {
	const look = time.Millisecond
	until := sys.Nanotime() + int64(loadWait)
	for !e.valve.flow.Load() && !e.stopped.Load() {
		if sys.Nanotime() >= until {
			e.warn(fmt.Sprintf("nothing of it came through within %v, and the test began without", loadWait), "look at the stream alone first")
			return
		}
		sys.SleepUntil(sys.Nanotime() + int64(look))
	}
	for until = sys.Nanotime() + int64(loadLead); sys.Nanotime() < until && !e.stopped.Load(); {
		sys.SleepUntil(min(until, sys.Nanotime()+int64(pollTime)))
	}
}

func (e *loadedTest) warn(text, advice string) {
	e.odd = append(e.odd, result.Warning{Code: WarnLoad, Text: e.kind.Name + " beside the test: " + text, Advice: advice})
}

// count adds what this end received of the stream, and what it noticed.
func (e *loadedTest) count(end *result.End, load result.End) {
	local := e.cfg.Role == result.Local
	if local && e.kind.Receives() || !local && e.kind.Sends() {
		bytes, elapsed := load.Bytes, int64(load.Elapsed)
		if n, both := load.Counts[result.CountReceivedBytes]; both {
			bytes, elapsed = n, load.Counts[result.CountReceivedElapsed]
		}
		if end.Counts == nil {
			end.Counts = map[string]int64{}
		}
		end.Counts[result.CountLoadBytes], end.Counts[result.CountLoadElapsed] = bytes, elapsed
	}
	for _, w := range load.Warnings {
		if w.Code != WarnShortWindow { // its end is none of its own
			w.Text = e.kind.Name + " beside the test: " + w.Text
			end.Warnings = append(end.Warnings, w)
		}
	}
	end.Warnings = append(end.Warnings, e.odd...)
}

// Stop tells both of a remote end that the local end has finished.
func (e *loadedTest) Stop() {
	if e.cfg.Role == result.Remote {
		e.stop()
	}
}

// stop ends both, as far as their role lets them be ended.
func (e *loadedTest) stop() {
	e.valve.closed.Store(true)
	e.test.Stop()
	e.load.Stop()
}

func (e *loadedTest) Intervals() *Intervals { return e.test.Intervals() }

func (e *loadedTest) Close() error {
	var errs []error
	for _, engine := range []Engine{e.load, e.test} {
		if engine != nil {
			errs = append(errs, engine.Close())
		}
	}
	e.test, e.load = nil, nil
	return errors.Join(errs...)
}
