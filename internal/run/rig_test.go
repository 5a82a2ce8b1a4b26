package run

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"testing"
	"time"

	"netdelta/internal/agent"
	"netdelta/internal/ctl"
	"netdelta/internal/knob"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/traffic"
)

var (
	addrA = netip.MustParseAddr("192.0.2.1")
	addrB = netip.MustParseAddr("192.0.2.2")
)

// errHang makes a worker's step wait until it is cancelled.
var errHang = errors.New("hang")

// rig is two agents, a and b, whose workers only pretend, and a link that
// only counts. All that happens is in the log, in order.
type rig struct {
	mu     sync.Mutex
	log    []string
	nth    map[string]int // how often each step was taken, by "a run" and so on
	alive  int            // workers
	paths  int            // links that are up
	frames int64          // the link's counter
	took   map[string]traffic.Config
	asked  map[string]knob.Request // what a host was to set last
	armed  map[string]netip.AddrPort

	// fail says how the nth step of that name goes, from 1. It may be nil.
	fail func(step string, nth int) error
	// figures replaces the local end's.
	figures func() *result.End
	// carries says whether the path carries a test's messages. It may be nil.
	carries func(spec.Test) bool
	// instant trials have no window.
	instant bool
	// path changes the path that is made.
	path func(*Path)
}

func (g *rig) note(step string) error {
	g.mu.Lock()
	g.log = append(g.log, step)
	g.nth[step]++
	n := g.nth[step]
	g.mu.Unlock()
	if g.fail == nil {
		return nil
	}
	return g.fail(step, n)
}

// given is what a host was prepared with last.
func (g *rig) given(host string) traffic.Config {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.took[host]
}

func (g *rig) count(p *int, by int) {
	g.mu.Lock()
	*p += by
	g.mu.Unlock()
}

// Apply makes the rig a Setup.
func (g *rig) Apply(_ context.Context, v spec.Variant) (Path, error) {
	if err := g.note("apply " + v["rx"]); err != nil {
		return Path{}, err
	}
	g.count(&g.paths, 1)
	p := Path{
		LocalAddr:  addrA,
		RemoteAddr: addrB,
		LocalCPU:   0,
		RemoteCPU:  1,
		Counts: func() (map[string]int64, error) {
			g.mu.Lock()
			c := map[string]int64{"frames": g.frames}
			g.mu.Unlock()
			return c, g.note("counts")
		},
		Close: func() error {
			g.count(&g.paths, -1)
			return g.note("close")
		},
	}
	if g.path != nil {
		g.path(&p)
	}
	return p, nil
}

type fakeWorker struct {
	g    *rig
	host string
	cfg  traffic.Config
}

func (w *fakeWorker) step(ctx context.Context, name string) error {
	err := w.g.note(w.host + " " + name)
	if errors.Is(err, errHang) {
		<-ctx.Done()
		return ctx.Err()
	}
	return err
}

func (w *fakeWorker) Prepare(ctx context.Context, c traffic.Config) (uint16, error) {
	w.cfg = c
	w.g.mu.Lock()
	w.g.took[w.host] = c
	w.g.mu.Unlock()
	if c.Test.Kind().Protocol == spec.ICMP {
		return 0, w.step(ctx, "prepare")
	}
	return map[string]uint16{"a": 1001, "b": 1002}[w.host], w.step(ctx, "prepare")
}

func (w *fakeWorker) Arm(ctx context.Context, p netip.AddrPort) error {
	w.g.mu.Lock()
	w.g.armed[w.host] = p
	w.g.mu.Unlock()
	return w.step(ctx, "arm")
}

func (w *fakeWorker) Run(ctx context.Context) (*result.End, error) {
	if err := w.step(ctx, "run"); err != nil || w.cfg.Role == result.Remote {
		return nil, err
	}
	length := w.cfg.Warmup + w.cfg.Window
	if w.g.instant {
		length = 0
	}
	select {
	case <-time.After(length):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	w.g.mu.Lock()
	w.g.frames += 10
	w.g.mu.Unlock()
	if w.g.figures != nil {
		return w.g.figures(), nil
	}
	return &result.End{Role: result.Local, Elapsed: w.cfg.Window, Messages: w.messages(5)}, nil
}

func (w *fakeWorker) Drain(ctx context.Context) (*result.End, error) {
	if err := w.step(ctx, "drain"); err != nil {
		return nil, err
	}
	return &result.End{Role: result.Remote, Elapsed: w.cfg.Window, Messages: w.messages(4)}, nil
}

// messages is n, or 0 on a path that does not carry them.
func (w *fakeWorker) messages(n int64) int64 {
	if w.g.carries != nil && !w.g.carries(w.cfg.Test) {
		return 0
	}
	return n
}

func (w *fakeWorker) Close() error {
	w.g.count(&w.g.alive, -1)
	return nil
}

// plan is three blocks of two variants and two tests: twelve trials.
func plan(t testing.TB) spec.Plan {
	t.Helper()
	tests, err := spec.ParseTests("icmp_echo,udp_rr", nil)
	if err != nil {
		t.Fatal(err)
	}
	return spec.Plan{
		Experiment: "rig",
		Factors:    []spec.Factor{{Name: "rx", Levels: []string{"softirq", "kthread"}}},
		Baseline:   spec.Variant{"rx": "softirq"},
		Tests:      tests,
		Blocks:     3,
		Warmup:     50 * time.Millisecond,
		Window:     150 * time.Millisecond,
		Seed:       7,
		Margin:     0.02,
	}
}

func newRig() *rig {
	return &rig{nth: map[string]int{}, took: map[string]traffic.Config{}, asked: map[string]knob.Request{}, armed: map[string]netip.AddrPort{}}
}

// bench is a rig with its agents served and dialled.
type bench struct {
	*rig
	cfg    Config
	cut    map[string]*severed // the ways to the hosts
	trials []result.Trial
	shown  []Progress
	// askedFor are the numbers of blocks at which Enough was asked.
	askedFor []int
	stop     func() // ends the agents; checks that they hold nothing
}

const bound = 2 * time.Second

// set makes a bench. The test calls stop at the end.
func set(t testing.TB, g *rig, p spec.Plan) *bench {
	t.Helper()
	b := &bench{rig: g, cut: map[string]*severed{}}
	var ends []func()
	host := func(name string) *ctl.Client {
		a := agent.New(agent.Config{Name: name, Settings: true, Commands: true,
			Start: func() (agent.Worker, error) {
				g.count(&g.alive, 1)
				return &fakeWorker{g: g, host: name}, nil
			},
			Keep: func(string) agent.Keeper { return &fakeKeeper{g: g, host: name} },
		})
		way := &severed{Pipe: ctl.NewPipe()}
		b.cut[name] = way
		ctx, cancel := context.WithCancel(context.Background())
		served := make(chan error, 1)
		go func() { served <- ctl.Serve(ctx, way.Pipe, ctl.Handler(a)) }()
		c, err := ctl.Dial(ctx, name, way, ctl.Options{Bound: bound})
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, func() {
			c.Close()
			a.Close()
			cancel()
			if err := <-served; err != nil {
				t.Error(err)
			}
		})
		return c
	}
	b.cfg = Config{
		Plan:     p,
		Local:    host("a"),
		Remote:   host("b"),
		Setup:    g,
		Sink:     func(t result.Trial) error { b.trials = append(b.trials, t); return nil },
		Progress: func(p Progress) { b.shown = append(b.shown, p) },
		CPUs:     8,
	}
	b.stop = func() {
		for _, end := range ends {
			end()
		}
		if g.alive != 0 || g.paths != 0 {
			t.Errorf("left behind: %d workers, %d paths", g.alive, g.paths)
		}
	}
	return b
}

// severed is a transport whose connections can all be cut, as by a death at
// one end.
type severed struct {
	*ctl.Pipe
	mu    sync.Mutex
	conns []net.Conn
	gone  bool // no new connection either
}

func (s *severed) Dial(ctx context.Context) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return nil, syscall.ECONNREFUSED
	}
	c, err := s.Pipe.Dial(ctx)
	if err == nil {
		s.conns = append(s.conns, c)
	}
	return c, err
}

func (s *severed) cut(forGood bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = forGood
	for _, c := range s.conns {
		c.Close()
	}
	s.conns = nil
}

func (s *severed) restore() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = false
}

// at fails the nth step of a name with an error.
func at(step string, nth int, err error) func(string, int) error {
	return func(s string, n int) error {
		if s == step && n == nth {
			return err
		}
		return nil
	}
}

// from fails every step of a name from the nth on.
func from(step string, nth int, err error) func(string, int) error {
	return func(s string, n int) error {
		if s == step && n >= nth {
			return err
		}
		return nil
	}
}

// keys are the trials in short, for comparison.
func keys(trials []result.Trial) []string {
	var k []string
	for _, t := range trials {
		k = append(k, fmt.Sprintf("%d %s %s", t.Block, t.Variant["rx"], t.Test.Name))
	}
	return k
}

// scheduled is what keys gives if the whole plan was carried out.
func scheduled(p spec.Plan) []string {
	var k []string
	for _, s := range p.Schedule() {
		for _, t := range s.Tests {
			k = append(k, fmt.Sprintf("%d %s %s", s.Block, s.Variant["rx"], t.Name))
		}
	}
	return k
}
