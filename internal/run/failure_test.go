package run

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/ctl"
	"netdelta/internal/result"
	"netdelta/internal/worker"
)

// every lists the steps in which a trial can go wrong, and which call of each
// the second trial makes.
var every = []struct {
	step string
	nth  int
}{
	{"a prepare", 2}, {"b prepare", 2}, {"b arm", 2}, {"a arm", 2}, {"b run", 2}, {"a run", 2}, {"b drain", 2},
	{"counts", 3}, {"counts", 4}, {"apply", 1},
}

// named is the step as the second trial's variant has it in the log.
func named(step string, b *bench) string {
	if step == "apply" {
		return "apply " + b.cfg.Plan.Schedule()[1].Variant["rx"]
	}
	return step
}

// A trial that fails once is repeated on a fresh path, and the run goes on.
func TestRepeat(t *testing.T) {
	for _, c := range every {
		t.Run(fmt.Sprintf("%s %d", c.step, c.nth), func(t *testing.T) {
			on(t, func(t *testing.T, b *bench) {
				one(b)
				b.fail = at(named(c.step, b), c.nth, errBroken)
				if err := Run(t.Context(), b.cfg); err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(scheduled(b.cfg.Plan), keys(b.trials)); d != "" {
					t.Errorf("trials (-want +got)\n%s", d)
				}
				if a, z := b.trials[0].Attempt, b.trials[1].Attempt; a != 1 || z != 2 {
					t.Errorf("attempts %d and %d, want 1 and 2", a, z)
				}
				applied := 0
				for _, l := range b.log {
					if strings.HasPrefix(l, "apply") {
						applied++
					}
				}
				if applied != 3 {
					t.Errorf("paths were made %d times, want 3: the repeated trial has a new one", applied)
				}
			})
		})
	}
}

// One that fails twice ends the run with what there is.
func TestStop(t *testing.T) {
	for _, c := range every {
		t.Run(fmt.Sprintf("%s %d", c.step, c.nth), func(t *testing.T) {
			on(t, func(t *testing.T, b *bench) {
				one(b)
				b.fail = from(named(c.step, b), c.nth, errBroken)
				err := Run(t.Context(), b.cfg)
				if !errors.Is(err, ErrStopped) || errors.Is(err, ErrInterrupted) {
					t.Fatalf("got %v, want %v", err, ErrStopped)
				}
				v := b.cfg.Plan.Schedule()[1].Variant["rx"]
				for _, want := range []string{"after 1 of 2 trials", "block 1, rx=" + v + ", udp_rr size=1", "failed 2 times", errBroken.Error()} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("error %q lacks %q", err, want)
					}
				}
				if strings.Contains(err.Error(), "\n") {
					t.Errorf("error %q has more than one line", err)
				}
				if host, name, ok := strings.Cut(c.step, " "); ok && !strings.Contains(err.Error(), "host "+host+": "+name) {
					t.Errorf("error %q does not name host and step", err)
				}
				if len(b.trials) != 1 || b.trials[0].Attempt != 1 {
					t.Errorf("kept %v", keys(b.trials))
				}
			})
		})
	}
}

func TestWorkerDies(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		b.fail = from("a run", 6, fmt.Errorf("worker 17: %w: signal: killed", worker.ErrDied))
		err := Run(t.Context(), b.cfg)
		if !errors.Is(err, ErrStopped) || !errors.Is(err, ctl.ErrWorkerDied) {
			t.Errorf("got %v, want %v and %v", err, ErrStopped, ctl.ErrWorkerDied)
		}
		if d := cmp.Diff(scheduled(b.cfg.Plan)[:5], keys(b.trials)); d != "" {
			t.Errorf("trials (-want +got)\n%s", d)
		}
	})
}

// Two different failures are both told.
func TestBothFailuresAreTold(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		one(b)
		other := errors.New("no buffer space")
		b.fail = func(step string, nth int) error {
			switch {
			case step == "b arm" && nth == 1:
				return errBroken
			case step == "a run":
				return other
			}
			return nil
		}
		err := Run(t.Context(), b.cfg)
		if err == nil || !strings.Contains(err.Error(), errBroken.Error()) || !strings.Contains(err.Error(), other.Error()) {
			t.Errorf("got %v, want both %v and %v", err, errBroken, other)
		}
	})
}

// A host that hangs in any step is given up at the step's bound, twice.
func TestHang(t *testing.T) {
	length := 200 * time.Millisecond
	for _, step := range []string{"a prepare", "b prepare", "b arm", "a arm", "b run", "a run", "b drain"} {
		t.Run(step, func(t *testing.T) {
			on(t, func(t *testing.T, b *bench) {
				one(b)
				b.fail = from(step, 1, errHang)
				began := time.Now()
				err := Run(t.Context(), b.cfg)
				if !errors.Is(err, ErrStopped) || !errors.Is(err, ctl.ErrNoAnswer) {
					t.Errorf("got %v, want %v for %v", err, ErrStopped, ctl.ErrNoAnswer)
				}
				if d, most := time.Since(began), 2*(bound+length); d > most {
					t.Errorf("gave up after %v, want at most %v", d, most)
				}
			})
		})
	}
}

// A connection that breaks in the middle of a window costs that trial only.
func TestConnectionBreaks(t *testing.T) {
	for _, host := range []string{"a", "b"} {
		t.Run(host, func(t *testing.T) {
			on(t, func(t *testing.T, b *bench) {
				one(b)
				b.fail = func(step string, nth int) error {
					if step == "a run" && nth == 1 {
						b.cut[host].cut(false)
					}
					return nil
				}
				if err := Run(t.Context(), b.cfg); err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(scheduled(b.cfg.Plan), keys(b.trials)); d != "" {
					t.Errorf("trials (-want +got)\n%s", d)
				}
				if b.trials[0].Attempt != 2 {
					t.Errorf("attempt %d, want 2", b.trials[0].Attempt)
				}
			})
		})
	}
}

// A host that is gone for good: the second attempt cannot even begin.
func TestHostGone(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		one(b)
		b.fail = func(step string, nth int) error {
			if step == "a run" && nth == 2 {
				b.cut["b"].cut(true)
			}
			return nil
		}
		err := Run(t.Context(), b.cfg)
		if !errors.Is(err, ErrStopped) || !errors.Is(err, ctl.ErrUnreachable) {
			t.Errorf("got %v, want %v for %v", err, ErrStopped, ctl.ErrUnreachable)
		}
		if len(b.trials) != 1 {
			t.Errorf("kept %v", keys(b.trials))
		}
	})
}

// A host that comes back within some seconds costs one attempt; one that was
// never there is not waited for.
func TestHostComesBack(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		one(b)
		b.cfg.Patience = 20 * time.Second
		b.fail = func(step string, nth int) error {
			if step == "a run" && nth == 2 {
				b.cut["b"].cut(true)
				time.AfterFunc(10*time.Second, b.cut["b"].restore)
			}
			return nil
		}
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		if len(b.trials) != 2 || b.trials[1].Attempt != 2 || len(b.trials[1].Warnings) != 1 || b.trials[1].Warnings[0].Code != CodeRepeated {
			t.Errorf("trials %+v", b.trials)
		}
	})
	on(t, func(t *testing.T, b *bench) {
		b.cfg.Patience = 20 * time.Second
		b.cut["b"].cut(true)
		began := time.Now()
		err := Run(t.Context(), b.cfg)
		if !errors.Is(err, ctl.ErrUnreachable) || time.Since(began) > time.Second {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
	})
}

// A trial that cannot be kept is not measured again.
func TestSinkFails(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		full := errors.New("no space left on device")
		b.cfg.Sink = func(result.Trial) error { return full }
		if err := Run(t.Context(), b.cfg); !errors.Is(err, ErrStopped) || !errors.Is(err, full) {
			t.Errorf("got %v, want %v for %v", err, ErrStopped, full)
		}
		if n := b.nth["a run"]; n != 1 {
			t.Errorf("ran %d trials, want 1", n)
		}
	})
}

func TestPathDoesNotClose(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		b.fail = from("close", 2, errBroken)
		if err := Run(t.Context(), b.cfg); !errors.Is(err, ErrStopped) || !errors.Is(err, errBroken) {
			t.Errorf("got %v, want %v for %v", err, ErrStopped, errBroken)
		}
		if len(b.trials) != 4 {
			t.Errorf("kept %d trials, want the 4 of two slots", len(b.trials))
		}
	})
}

// Figures that are those of the other end are never kept.
func TestWrongFigures(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		b.figures = func() *result.End { return &result.End{Role: result.Remote} }
		err := Run(t.Context(), b.cfg)
		if !errors.Is(err, ErrStopped) || !strings.Contains(err.Error(), "host a: figures of the remote end came where the local end's were due") {
			t.Errorf("got %v", err)
		}
		if len(b.trials) > 0 {
			t.Errorf("kept %v", keys(b.trials))
		}
	})
}

func TestNoFigures(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		err := checkEnd(b.cfg.Local, nil, result.Local)
		if err == nil || err.Error() != "host a: the local end answered without figures" {
			t.Errorf("got %v", err)
		}
	})
}
