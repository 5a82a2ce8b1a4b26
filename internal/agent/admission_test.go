package agent

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"netdelta/internal/ctl"
)

// guest is a client of an agent: what it is told, and what became of it.
type guest struct {
	leave context.CancelFunc
	gone  chan error // gets what Open returned

	mu     sync.Mutex
	in     bool
	busy   []ctl.Busy // what it was told to wait for
	beats  int
	opened time.Time
}

// visit opens a session, or waits for one, in the background.
func visit(a *Agent, h ctl.Hold) *guest {
	ctx, leave := context.WithCancel(context.Background())
	g := &guest{leave: leave, gone: make(chan error, 1)}
	go func() {
		g.gone <- a.Open(ctx, h, func(e ctl.Event) error {
			g.mu.Lock()
			defer g.mu.Unlock()
			switch {
			case e.Session != "":
				g.in, g.opened = true, time.Now()
			case e.Busy != nil:
				g.busy = append(g.busy, *e.Busy)
			case e.Heartbeat:
				g.beats++
			default:
				panic("an empty event")
			}
			return nil
		})
	}()
	return g
}

func (g *guest) inside() bool {
	synctest.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.in
}

func (g *guest) told() []ctl.Busy {
	synctest.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.busy)
}

// with runs a test with an agent whose clock stands still unless all sleep.
func with(t *testing.T, cfg Config, test func(*testing.T, *Agent)) {
	synctest.Test(t, func(t *testing.T) {
		cfg.Start = newStable().start
		a := New(cfg)
		defer func() {
			a.Close()
			if len(a.sessions) != 0 || len(a.queue) != 0 {
				t.Errorf("left: %d sessions, %d in the queue", len(a.sessions), len(a.queue))
			}
		}()
		test(t, a)
	})
}

// A session alone keeps the others out, and they are told by whom, since
// when, and let in one after the other when it ends.
func TestAlone(t *testing.T) {
	with(t, Config{}, func(t *testing.T, a *Agent) {
		began := time.Now()
		alice := visit(a, ctl.Hold{Client: "alice", Version: "1.0", From: "192.0.2.9:5", Exclusive: true})
		if !alice.inside() {
			t.Fatal("alice is not in")
		}
		err := <-visit(a, ctl.Hold{Client: "bob"}).gone
		if want := `host is in use: "alice" (192.0.2.9:5, version "1.0") has the host alone since ` + clock(began); !errors.Is(err, ctl.ErrBusy) || err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
		carol := visit(a, ctl.Hold{Client: "carol", Wait: time.Hour})
		dave := visit(a, ctl.Hold{Client: "dave", Wait: time.Hour})
		if carol.inside() || dave.inside() {
			t.Error("they are in beside alice")
		}
		told := carol.told()
		if len(told) != 1 || told[0].Holder != "alice" || !told[0].Since.Equal(began) || !strings.Contains(told[0].Reason, "alone") {
			t.Errorf("carol was told %+v", told)
		}
		alice.leave()
		if !carol.inside() || !dave.inside() {
			t.Error("they are not in when alice has left")
		}
		carol.leave()
		dave.leave()
	})
}

// A client that wants to be alone waits for all that are there, and who comes
// later waits behind it, or is told that it comes first.
func TestAloneIsNotOvertaken(t *testing.T) {
	with(t, Config{}, func(t *testing.T, a *Agent) {
		one := visit(a, ctl.Hold{Client: "one"})
		if !one.inside() {
			t.Fatal("the first is not in")
		}
		two := visit(a, ctl.Hold{Client: "two"})
		if !two.inside() {
			t.Fatal("two sessions are not beside one another")
		}
		err := <-visit(a, ctl.Hold{Exclusive: true}).gone
		if !errors.Is(err, ctl.ErrBusy) || !strings.Contains(err.Error(), `2 others have the host (the first is "one"`) {
			t.Errorf("got %v", err)
		}
		alone := visit(a, ctl.Hold{Client: "alone", Exclusive: true, Wait: time.Hour})
		if alone.inside() {
			t.Fatal("it is not alone")
		}
		err = <-visit(a, ctl.Hold{Client: "late"}).gone
		if !errors.Is(err, ctl.ErrBusy) || !strings.Contains(err.Error(), `"alone" waits for the host and comes first`) {
			t.Errorf("got %v", err)
		}
		behind := visit(a, ctl.Hold{Client: "behind", Wait: time.Hour})
		one.leave()
		if alone.inside() || behind.inside() {
			t.Error("somebody is in beside two")
		}
		if told := alone.told(); len(told) != 2 || told[1].Holder != "two" {
			t.Errorf("alone was told %+v, want news of two", told)
		}
		two.leave()
		if !alone.inside() || behind.inside() {
			t.Error("alone is not in, or not alone")
		}
		alone.leave()
		if !behind.inside() {
			t.Error("behind is not in at the end")
		}
		behind.leave()
	})
}

// Waiting ends when its time is up, with the reason.
func TestWaitEnds(t *testing.T) {
	with(t, Config{Heartbeat: time.Minute}, func(t *testing.T, a *Agent) {
		alice := visit(a, ctl.Hold{Client: "alice", Exclusive: true})
		alice.inside()
		began := time.Now()
		bob := visit(a, ctl.Hold{Client: "bob", Wait: 10*time.Minute + time.Second})
		err := <-bob.gone
		if !errors.Is(err, ctl.ErrBusy) || !strings.Contains(err.Error(), `"alice" has the host alone since`) || !strings.HasSuffix(err.Error(), "; waited for 10m1s") {
			t.Errorf("got %v", err)
		}
		if d := time.Since(began); d != 10*time.Minute+time.Second {
			t.Errorf("it waited for %v", d)
		}
		if bob.beats != 10 {
			t.Errorf("bob got %d signs of life, want 10", bob.beats)
		}
		alice.leave()
	})
}

// Who leaves the queue makes room for the next.
func TestWaiterLeaves(t *testing.T) {
	with(t, Config{}, func(t *testing.T, a *Agent) {
		first := visit(a, ctl.Hold{Client: "first"})
		first.inside()
		alone := visit(a, ctl.Hold{Client: "alone", Exclusive: true, Wait: time.Hour})
		alone.inside()
		behind := visit(a, ctl.Hold{Client: "behind", Wait: time.Hour})
		if behind.inside() {
			t.Fatal("behind has overtaken")
		}
		alone.leave()
		if err := <-alone.gone; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if !behind.inside() {
			t.Error("behind still waits, for nobody")
		}
		first.leave()
		behind.leave()
	})
}

// More sessions than the agent takes wait too, if they will.
func TestLimitAndQueue(t *testing.T) {
	with(t, Config{MaxSessions: 1}, func(t *testing.T, a *Agent) {
		first := visit(a, ctl.Hold{Client: "first"})
		first.inside()
		var waiting []*guest
		for range maxQueue {
			g := visit(a, ctl.Hold{Wait: time.Hour})
			if g.inside() {
				t.Fatal("more are in than may be")
			}
			waiting = append(waiting, g)
		}
		err := <-visit(a, ctl.Hold{Wait: time.Hour}).gone
		if !errors.Is(err, ctl.ErrLimit) || !strings.Contains(err.Error(), "16 others wait already") {
			t.Errorf("got %v", err)
		}
		err = <-visit(a, ctl.Hold{}).gone
		if !errors.Is(err, ctl.ErrLimit) || !strings.Contains(err.Error(), `1 sessions are open, as many as this agent takes (the first is of "first"`) {
			t.Errorf("got %v", err)
		}
		first.leave()
		for i, g := range waiting {
			if !g.inside() {
				t.Fatalf("%d is not in", i)
			}
			if i+1 < len(waiting) && waiting[i+1].inside() {
				t.Fatalf("%d is in too early", i+1)
			}
			g.leave()
		}
	})
}

// An agent that closes sends those who wait away.
func TestCloseWithQueue(t *testing.T) {
	with(t, Config{}, func(t *testing.T, a *Agent) {
		alice := visit(a, ctl.Hold{Exclusive: true})
		alice.inside()
		bob := visit(a, ctl.Hold{Wait: time.Hour})
		bob.inside()
		a.Close()
		for _, g := range []*guest{alice, bob} {
			if err := <-g.gone; !errors.Is(err, ctl.ErrClosing) {
				t.Errorf("got %v, want %v", err, ctl.ErrClosing)
			}
		}
	})
}

// A waiter that cannot be told anything is gone, and holds nobody up.
func TestDeafWaiter(t *testing.T) {
	with(t, Config{Heartbeat: time.Second}, func(t *testing.T, a *Agent) {
		first := visit(a, ctl.Hold{})
		first.inside()
		broken := errors.New("broken pipe")
		err := a.Open(t.Context(), ctl.Hold{Exclusive: true, Wait: time.Hour}, func(e ctl.Event) error {
			if e.Heartbeat {
				return broken
			}
			return nil
		})
		if !errors.Is(err, broken) {
			t.Errorf("got %v, want %v", err, broken)
		}
		second := visit(a, ctl.Hold{})
		if !second.inside() {
			t.Error("the deaf one still waits")
		}
		first.leave()
		second.leave()
	})
}

// The next session begins when the worker of the last one has ended, not
// before.
func TestAloneEndsWithItsWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStable()
		slow := make(chan bool)
		a := New(Config{Start: func() (Worker, error) {
			w, err := st.start()
			return slowEnd{w, slow}, err
		}})
		defer a.Close()
		h := &held{Agent: a, st: st}
		h.id, h.leave, h.gone, h.beats = join(t, a)
		h.bring(t, prepared)
		next := visit(a, ctl.Hold{Exclusive: true, Wait: time.Hour})
		h.leave()
		if next.inside() {
			t.Error("the worker before it is still there")
		}
		close(slow)
		if !next.inside() {
			t.Error("it is not in")
		}
		next.leave()
		<-h.gone
	})
}

type slowEnd struct {
	Worker
	wait <-chan bool
}

func (s slowEnd) Close() error {
	<-s.wait
	return s.Worker.Close()
}

// Whoever comes and goes in whatever order: a session alone has none beside
// it, there are never more than the limit, and in the end nobody waits.
func TestAnyCrowd(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			const limit = 3
			a := New(Config{Start: newStable().start, MaxSessions: limit, Heartbeat: time.Second})
			rng := rand.New(rand.NewPCG(seed, 2))
			var guests sync.WaitGroup
			for range 40 {
				hold := ctl.Hold{Exclusive: rng.IntN(3) == 0, Wait: time.Duration(rng.IntN(3)) * 10 * time.Second}
				arrives, stays := time.Duration(rng.Int64N(int64(20*time.Second))), time.Duration(rng.Int64N(int64(5*time.Second)))
				guests.Go(func() {
					time.Sleep(arrives)
					ctx, leave := context.WithCancel(context.Background())
					defer leave()
					err := a.Open(ctx, hold, func(e ctl.Event) error {
						if e.Session == "" {
							return nil
						}
						a.mu.Lock()
						n := len(a.sessions)
						for _, s := range a.sessions {
							if s.hold.Exclusive && n > 1 {
								t.Errorf("seed %d: one is alone among %d", seed, n)
							}
						}
						a.mu.Unlock()
						if n > limit {
							t.Errorf("seed %d: %d sessions", seed, n)
						}
						time.AfterFunc(stays, leave)
						return nil
					})
					if !errors.Is(err, context.Canceled) && !errors.Is(err, ctl.ErrBusy) && !errors.Is(err, ctl.ErrLimit) {
						t.Errorf("seed %d: got %v", seed, err)
					}
				})
			}
			guests.Wait()
			if len(a.sessions) != 0 || len(a.queue) != 0 {
				t.Errorf("seed %d: left: %d sessions, %d in the queue", seed, len(a.sessions), len(a.queue))
			}
			a.Close()
		})
	}
}
