package agent

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"testing"
	"time"

	"netdelta/internal/ctl"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/traffic"
)

// stable makes workers that answer at once, save in the steps that are to
// hang or to fail, and counts those that have not been closed.
type stable struct {
	mu     sync.Mutex
	hang   string           // this step waits for its context's end
	fail   map[string]error // these steps fail so
	calls  []string
	alive  int
	hung   chan bool      // gets a token when a step begins to hang
	last   traffic.Config // of the worker that was prepared last
	broken bool           // a worker was used after Close, or by two steps at once
}

func newStable() *stable { return &stable{fail: map[string]error{}, hung: make(chan bool, 1)} }

func (st *stable) start() (Worker, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.calls = append(st.calls, "start")
	if err := st.fail["start"]; err != nil {
		return nil, err
	}
	st.alive++
	return &fakeWorker{st: st}, nil
}

func (st *stable) living() int {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.alive
}

func (st *stable) made() int {
	st.mu.Lock()
	defer st.mu.Unlock()
	n := 0
	for _, c := range st.calls {
		if c == "start" {
			n++
		}
	}
	return n
}

type fakeWorker struct {
	st     *stable
	role   string
	busy   bool
	closed bool
}

func (w *fakeWorker) do(ctx context.Context, name string) error {
	w.st.mu.Lock()
	w.st.calls = append(w.st.calls, name)
	w.st.broken = w.st.broken || w.busy || w.closed
	w.busy = true
	hang, err := w.st.hang == name, w.st.fail[name]
	w.st.mu.Unlock()
	if hang {
		select {
		case w.st.hung <- true:
		default:
		}
		<-ctx.Done()
		err = ctx.Err()
	}
	w.st.mu.Lock()
	w.busy = false
	w.st.mu.Unlock()
	return err
}

func (w *fakeWorker) Prepare(ctx context.Context, c traffic.Config) (uint16, error) {
	w.role = c.Role
	w.st.mu.Lock()
	w.st.last = c
	w.st.mu.Unlock()
	return 7118, w.do(ctx, "prepare")
}

func (w *fakeWorker) Arm(ctx context.Context, _ netip.AddrPort) error { return w.do(ctx, "arm") }

func (w *fakeWorker) Run(ctx context.Context) (*result.End, error) {
	if err := w.do(ctx, "run"); err != nil || w.role == result.Remote {
		return nil, err
	}
	return &result.End{Role: result.Local, Messages: 3}, nil
}

func (w *fakeWorker) Drain(ctx context.Context) (*result.End, error) {
	if err := w.do(ctx, "drain"); err != nil {
		return nil, err
	}
	return &result.End{Role: result.Remote, Messages: 2}, nil
}

func (w *fakeWorker) Close() error {
	w.st.mu.Lock()
	defer w.st.mu.Unlock()
	w.st.calls = append(w.st.calls, "close")
	w.st.broken = w.st.broken || w.busy || w.closed
	w.closed = true
	w.st.alive--
	return nil
}

// held is an agent with one open session, whose stream the test holds.
type held struct {
	*Agent
	id    string
	st    *stable
	leave context.CancelFunc // the client goes
	gone  chan error         // gets what Open returned
	beats chan time.Time     // gets the time of each heartbeat
}

// hold opens a session at a new agent. finish closes the agent and checks
// that no worker is left.
func hold(t *testing.T, st *stable, cfg Config) *held {
	t.Helper()
	cfg.Start = st.start
	h := &held{Agent: New(cfg), st: st}
	h.id, h.leave, h.gone, h.beats = join(t, h.Agent)
	return h
}

// join opens one more session.
func join(t *testing.T, a *Agent) (id string, leave context.CancelFunc, gone chan error, beats chan time.Time) {
	t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	ids := make(chan string, 1)
	gone, beats = make(chan error, 1), make(chan time.Time, 100)
	go func() {
		err := a.Open(ctx, ctl.Hold{Client: "tester"}, func(e ctl.Event) error {
			if e.Heartbeat {
				beats <- time.Now()
			} else {
				ids <- e.Session
			}
			return nil
		})
		gone <- err
		close(ids)
	}()
	id = <-ids
	if id == "" {
		t.Fatalf("open: %v", <-gone)
	}
	return id, leave, gone, beats
}

func (h *held) finish(t *testing.T) {
	t.Helper()
	h.Close()
	h.leave()
	if n := h.st.living(); n != 0 {
		t.Errorf("%d workers are left", n)
	}
	if h.st.broken {
		t.Error("a worker was used by two at once, or after its end")
	}
}

var peer = netip.MustParseAddrPort("192.0.2.2:9")

func config(role string) traffic.Config {
	test, err := spec.NewTest("udp_rr", spec.Params{Size: 1})
	if err != nil {
		panic(err)
	}
	return traffic.Config{Role: role, Test: test, Warmup: time.Second, Window: 4 * time.Second,
		CPU: -1, Addr: netip.MustParseAddr("192.0.2.1")}
}

// call makes the step of that name.
func (h *held) call(ctx context.Context, step, role string) error {
	var err error
	switch step {
	case "prepare":
		_, err = h.Prepare(ctx, h.id, config(role))
	case "arm":
		err = h.Arm(ctx, h.id, peer)
	case "run":
		_, err = h.Run(ctx, h.id)
	case "drain":
		_, err = h.Drain(ctx, h.id)
	case "abort":
		err = h.Abort(ctx, h.id)
	default:
		err = errors.New("no such step: " + step)
	}
	return err
}

// state is where the session stands.
func (h *held) state() state {
	h.mu.Lock()
	s := h.sessions[h.id]
	h.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}
