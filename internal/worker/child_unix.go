//go:build linux || darwin || freebsd

package worker

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"

	"netdelta/internal/counters"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
	"netdelta/internal/traffic"
)

// Main is the worker process, role sys.RoleWorker: it serves commands from the
// control socket until that closes. It returns the exit status; as soon as the
// socket closes it ends the process itself, whatever is under way.
func Main(args []string) int {
	fail := func(err error) int {
		fmt.Fprintf(os.Stderr, "netdelta worker: %v\n", err)
		return 1
	}
	if len(args) > 0 {
		return fail(fmt.Errorf("unexpected arguments %q", args))
	}
	var stat unix.Stat_t
	if err := unix.Fstat(sys.ControlFD, &stat); err != nil || stat.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return fail(fmt.Errorf("descriptor %d is no control socket: this role is for netdelta itself to start", sys.ControlFD))
	}
	// The descriptor blocks, so the netpoller never learns of it.
	control := os.NewFile(sys.ControlFD, "control socket")
	requests := make(chan *request, 1)
	go func() {
		for {
			r := new(request)
			switch err := readFrame(control, r); {
			case errors.Is(err, io.EOF) || errors.Is(err, unix.ECONNRESET):
				os.Exit(0)
			case err != nil:
				os.Exit(fail(fmt.Errorf("read from the agent: %w", err)))
			}
			select {
			case requests <- r:
			default: // and go on watching for the end
				os.Exit(fail(fmt.Errorf("command %q came before the last ones were answered", r.Command)))
			}
		}
	}()
	out := &frames{w: control}
	t := trial{out: out}
	for r := range requests {
		answer, err := t.serve(r)
		answer.Error = report(err)
		if err := out.write(answer); err != nil {
			return fail(fmt.Errorf("write to the agent: %w", err))
		}
	}
	return 0
}

// trial is the worker's one end of one trial.
type trial struct {
	next     string // the command that is due; "" is cmdPrepare, over none
	role     string
	engine   traffic.Engine
	thread   *thread
	warnings []result.Warning
	running  <-chan outcome
	cfg      traffic.Config
	usage    traffic.Usage
	counting *counters.Sampler // nil where nothing is to be counted
	out      *frames
	quiet    func() // ends what is told while the traffic flows
}

// over is the state after the last command.
const over = "nothing"

// serve carries out one command.
func (t *trial) serve(r *request) (reply, error) {
	due := t.next
	if due == "" {
		due = cmdPrepare
	}
	if r.Command != due {
		return reply{}, fmt.Errorf("%w: command %q came where %s was due", errInvalid, r.Command, due)
	}
	// After an error nothing more is due, unless the command says otherwise.
	t.next = over
	switch r.Command {
	case cmdPrepare:
		return t.prepare(r.Config)
	case cmdArm:
		return reply{}, t.arm(r.Peer)
	case cmdRun:
		return t.run()
	default: // cmdDrain, the only other one that is ever due
		t.engine.Stop()
		return t.finish()
	}
}

func (t *trial) prepare(cfg *traffic.Config) (reply, error) {
	if cfg == nil {
		return reply{}, fmt.Errorf("%w: %s came without a configuration", errInvalid, cmdPrepare)
	}
	if err := traffic.Place(cfg); err != nil {
		return reply{}, err
	}
	cfg.Usage = &t.usage
	if err := t.count(cfg); err != nil {
		return reply{}, err
	}
	engine, err := traffic.New(*cfg)
	if err != nil {
		return reply{}, fmt.Errorf("%w configuration: %w", errInvalid, err)
	}
	t.engine, t.role, t.cfg = engine, cfg.Role, *cfg
	if err := traffic.CheckThreads(cfg); err != nil {
		return reply{}, err
	}
	if t.thread, t.warnings, err = startThread(cfg); err != nil {
		return reply{}, err
	}
	var answer reply
	err = t.thread.do(func() (err error) {
		answer.Port, err = engine.Prepare()
		return err
	})
	if err == nil {
		t.next = cmdArm
	}
	return answer, err
}

// count has what the host does around the window counted.
func (t *trial) count(cfg *traffic.Config) error {
	if len(cfg.Counters) == 1 && cfg.Counters[0] == counters.None && !cfg.Soak {
		return nil
	}
	threads := 1
	if test, err := spec.NewTest(cfg.Test.Name, cfg.Test.Params); err == nil {
		threads = test.EndThreads()
	}
	var err error
	t.counting, err = counters.New(counters.Options{
		Sources: cfg.Counters, Addr: cfg.Addr, Device: cfg.Device, CPUs: cfg.CPUScope,
		OneMachine: cfg.OneMachine, Shared: cfg.OneMachine && len(cfg.CPUScope) == 0 && cfg.Role == result.Remote,
		Window: cfg.Window, Realtime: cfg.Test.Params.FIFO != 0, Soak: cfg.Soak,
		Threads: threads, Paces: cfg.Role == result.Local,
	})
	if err != nil {
		return fmt.Errorf("%w configuration: %w", errInvalid, err)
	}
	t.usage.Watcher = t.counting
	if cfg.Soak {
		t.usage.Apart = t.counting.Apart
	}
	return nil
}

// arm looks at the CPUs first, if it is to: both ends are prepared by now, and
// nothing flows. Where both are on one machine, starting the other's worker
// would have been taken for what the machine does anyway.
func (t *trial) arm(peer netip.AddrPort) error {
	t.counting.Baseline(t.cfg.Baseline)
	err := t.thread.do(func() error { return t.engine.Arm(peer) })
	if err == nil {
		t.next = cmdRun
	}
	return err
}

// run starts the traffic. A local end answers when it is over, a remote one at
// once.
func (t *trial) run() (reply, error) {
	t.counting.Begin()
	t.running = t.thread.run(t.engine.Run)
	t.quiet = func() {}
	if t.cfg.Live {
		t.quiet = tell(t.out, t.cfg, t.engine.Intervals())
	}
	if t.role == result.Remote {
		t.next = cmdDrain
		return reply{}, nil
	}
	return t.finish()
}

func (t *trial) finish() (reply, error) {
	o := <-t.running
	t.quiet()
	counted := t.counting.Finish()
	err := errors.Join(o.err, t.engine.Close(), t.counting.Close())
	if err != nil {
		return reply{}, err
	}
	o.end.Warnings = append(o.end.Warnings, t.warnings...)
	t.usage.AddTo(&o.end)
	o.end.Counters = counted
	return reply{End: &o.end}, nil
}
