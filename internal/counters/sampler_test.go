package counters

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"netdelta/internal/result"
)

// fake is a source that notes when it was read.
type fake struct {
	mu     sync.Mutex
	at     []int64 // when each reading began
	ended  []int64
	took   chan struct{} // is told of each reading
	fail   int           // the reading that fails, from 1
	hold   chan struct{} // closed to let the first reading end; nil for at once
	length time.Duration // of a reading
	closed bool
}

func (f *fake) take() (*sample, error) {
	f.mu.Lock()
	f.at = append(f.at, now())
	n := len(f.at)
	f.mu.Unlock()
	f.took <- struct{}{}
	if f.hold != nil && n == 1 {
		<-f.hold
	}
	until(now() + int64(f.length))
	f.mu.Lock()
	f.ended = append(f.ended, now())
	f.mu.Unlock()
	if n == f.fail {
		return nil, errors.New("it broke")
	}
	x := newSample()
	x.counts["n"], x.levels["reading"] = int64(n), int64(n)
	return x, nil
}

func (f *fake) cost() time.Duration { return f.length }

func (f *fake) close() error { f.closed = true; return nil }

func (f *fake) times() []int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]int64(nil), f.at...)
}

// sampler is one with fake sources of those rows.
func sampler(t *testing.T, o Options, rows ...row) (*Sampler, []*fake) {
	t.Helper()
	o.Sources = []string{None}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	var fakes []*fake
	for _, r := range rows {
		f := &fake{took: make(chan struct{}, 100)}
		r.open = func(*Options) (source, error) { return f, nil }
		s.open(r)
		fakes = append(fakes, f)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		for _, f := range fakes {
			if !f.closed {
				t.Error("a source was left open")
			}
		}
	})
	return s, fakes
}

// trying repeats what a busy machine can spoil.
func trying(t *testing.T, try func(t *testing.T) error) {
	t.Helper()
	var err error
	for range 10 {
		if err = try(t); err == nil {
			return
		}
	}
	t.Error(err)
}

// until waits until a moment of the monotonic clock.
func until(at int64) { <-time.After(time.Duration(at - now())) }

func missing(c *result.Counters, name string) string {
	for _, f := range c.Missing {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// Nothing is read within a window, whoever tells that it is over.
func TestWindow(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name           string
		window, length time.Duration // as it is to be, and as it is
		paces          bool
		threads        int // that tell Over; 0 for none, so that the time does
	}{
		{"its end is told", 40 * ms, 40 * ms, true, 1},
		{"several threads", 40 * ms, 40 * ms, true, 8},
		{"its time passes", 40 * ms, 40 * ms, false, 0},
		{"limited by a count", time.Hour, 40 * ms, true, 1},
		{"limited, at the far end", time.Hour, 40 * ms, false, 1},
		{"longer than it should be", 10 * ms, 40 * ms, true, 2},
		{"of no known length", 0, 40 * ms, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			trying(t, func(t *testing.T) error {
				s, f := sampler(t, Options{Window: c.window, Paces: c.paces}, row{name: "first"}, row{name: "nearest", last: true})
				s.Begin()
				opens := now() + int64(20*ms)
				together(max(c.threads, 1), func() { s.Warm(opens) })
				over := opens + int64(c.length)
				if c.threads > 0 {
					until(over)
					over = now()
					together(c.threads, func() { s.Over(over) })
				}
				<-s.done
				got := s.Finish()
				if len(got.Readings) != 2 || len(got.Missing) != 0 {
					return errors.New("missing: " + missing(got, "first") + missing(got, "nearest"))
				}
				for i, f := range f {
					at := f.times()
					if len(at) != 2 {
						t.Errorf("source %d was read %d times", i, len(at))
						return nil
					}
					if at[0] >= opens {
						return errors.New("the first reading came late")
					}
					if at[1] < over {
						t.Errorf("source %d was read %v before the window was over", i, time.Duration(over-at[1]))
					}
					r := got.Readings[i]
					if d := time.Duration(at[1] - at[0]); (r.Elapsed - d).Abs() > 20*ms {
						return errors.New("a reading's time is wrong")
					}
					if r.Counts["n"] != 1 || r.Levels["reading"] != 2 || r.Was["reading"] != 1 {
						t.Errorf("got %+v", r)
					}
				}
				if a, b := f[0].times(), f[1].times(); a[0] > b[0] || a[1] < b[1] {
					t.Error("the source that is to be read nearest to the window was not")
				}
				return nil
			})
		})
	}
}

// Sources that take long are begun so early that they are read when the window
// opens.
func TestSlowSource(t *testing.T) {
	const ms = time.Millisecond
	trying(t, func(t *testing.T) error {
		s, f := sampler(t, Options{Window: 300 * ms, Paces: true}, row{name: "slow"}, row{name: "nearest", last: true})
		f[0].length = 12 * ms
		s.Begin()
		opens := now() + int64(80*ms)
		s.Warm(opens)
		until(opens + int64(300*ms))
		s.Over(now())
		<-s.done
		got := s.Finish()
		if len(got.Readings) != 2 {
			return errors.New("missing: " + missing(got, "slow") + missing(got, "nearest"))
		}
		if late := time.Duration(f[1].ended[0] - opens); late > 0 {
			return fmt.Errorf("sources were still read %v after the window had opened", late)
		}
		return nil
	})
	s, f := sampler(t, Options{Window: 100 * ms}, row{name: "slow"})
	f[0].length = time.Hour
	if d := s.lead(); d != 10*ms {
		t.Errorf("of a window of 100ms, reading begins %v before it", d)
	}
	f[0].length = 0
}

// A trial whose counters can't be read to the end ends all the same, without
// them.
func TestSamplerIsLost(t *testing.T) {
	s, f := sampler(t, Options{Window: time.Hour, Paces: true}, row{name: "a"}, row{name: "b"})
	s.patience = 20 * time.Millisecond
	f[0].hold = make(chan struct{})
	s.Begin()
	s.Warm(now())
	<-f[0].took
	got := s.Finish()
	if len(got.Readings) > 0 || !strings.Contains(missing(got, "a"), "did not come to its end") || missing(got, "b") == "" {
		t.Errorf("got %+v", got)
	}
	if err := s.Close(); err != nil || f[0].closed {
		t.Errorf("given up while it was read: %v, %v", f[0].closed, err)
	}
	close(f[0].hold)
	<-s.done
	s.lost = false // for the clean-up
}

func together(n int, do func()) {
	var all sync.WaitGroup
	for range n {
		all.Go(do)
	}
	all.Wait()
}

// A window that never was leaves no figure, and nothing that waits.
func TestNoWindow(t *testing.T) {
	for _, c := range []struct {
		name, why string
		paces     bool
		live      func(*Sampler, *fake)
	}{
		{"never begun", "did not open", true, func(*Sampler, *fake) {}},
		{"no message", "did not open", true, func(s *Sampler, _ *fake) { s.Begin() }},
		{"warm-up only", "did not open", true, func(s *Sampler, _ *fake) { s.Begin(); s.Warm(now() + int64(time.Hour)) }},
		{"never over", "did not end", true, func(s *Sampler, f *fake) { s.Begin(); s.Warm(now() + int64(time.Millisecond)); <-f.took }},
		{"never over, far end", "did not end", false, func(s *Sampler, f *fake) { s.Begin(); s.Warm(now() + int64(time.Millisecond)); <-f.took }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, f := sampler(t, Options{Window: time.Hour, Paces: c.paces}, row{name: "a"})
			c.live(s, f[0])
			got := s.Finish()
			if why := missing(got, "a"); len(got.Readings) > 0 || !strings.Contains(why, c.why) {
				t.Errorf("got %+v, want a reason like %q", got, c.why)
			}
		})
	}
}

// A trial that ends with its window, before the sampler could look, was measured
// all the same.
func TestFinishAfterOver(t *testing.T) {
	trying(t, func(t *testing.T) error {
		s, _ := sampler(t, Options{Window: 100 * time.Millisecond, Paces: true}, row{name: "a"})
		s.Begin()
		opens := now() + int64(10*time.Millisecond)
		s.Warm(opens)
		until(opens + int64(100*time.Millisecond))
		s.Over(now())
		if got := s.Finish(); len(got.Readings) != 1 {
			return errors.New(missing(got, "a"))
		}
		return nil
	})
}

// Without a warm-up the first reading falls into the window; it is taken as long
// as that is a tenth of it at most, and what comes later is not even read.
func TestLate(t *testing.T) {
	window := 500 * time.Millisecond
	run := func(t *testing.T, late time.Duration, hold bool, overLate time.Duration) (*result.Counters, []*fake) {
		s, f := sampler(t, Options{Window: window, Paces: true}, row{name: "a"}, row{name: "b", last: true})
		if hold {
			f[0].hold = make(chan struct{})
		}
		s.Begin()
		opens := now() - int64(late)
		s.Warm(opens)
		if hold {
			until(opens + int64(window)/4)
			close(f[0].hold)
		}
		until(opens + int64(window))
		s.Over(now() - int64(overLate))
		return s.Finish(), f
	}
	t.Run("none", func(t *testing.T) {
		trying(t, func(t *testing.T) error {
			got, _ := run(t, 0, false, 0)
			if len(got.Readings) != 2 {
				return errors.New(missing(got, "a") + missing(got, "b"))
			}
			if _, told := got.Readings[0].Levels[lateBegin]; told {
				return errors.New("lateness is told of a reading that was in time")
			}
			return nil
		})
	})
	t.Run("a little", func(t *testing.T) {
		trying(t, func(t *testing.T) error {
			got, _ := run(t, window/25, false, window/25)
			if len(got.Readings) != 2 {
				return errors.New(missing(got, "a") + missing(got, "b"))
			}
			for _, name := range []string{lateBegin, lateEnd} {
				if late := time.Duration(got.Readings[0].Levels[name]); late < window/25 || late > window/10 {
					t.Errorf("%s is %v", name, late)
				}
			}
			return nil
		})
	})
	t.Run("the first too late", func(t *testing.T) {
		got, f := run(t, 0, true, 0)
		if len(f[1].times()) > 1 {
			t.Error("a source was read within the window")
		}
		for _, name := range []string{"a", "b"} {
			if why := missing(got, name); !strings.Contains(why, "after the window had opened") {
				t.Errorf("%s: %q", name, why)
			}
		}
	})
	t.Run("the last too late", func(t *testing.T) {
		trying(t, func(t *testing.T) error {
			got, _ := run(t, 0, false, window/4)
			for _, name := range []string{"a", "b"} {
				if why := missing(got, name); !strings.Contains(why, "was over, more than a tenth") {
					return errors.New(name + ": " + why)
				}
			}
			return nil
		})
	})
}

// A source that fails costs its own figures only.
func TestSourceFails(t *testing.T) {
	for _, c := range []struct {
		name  string
		fail  int // 1 the whole's first, 2 before, 3 after, 4 the whole's last
		told  string
		reads bool
	}{
		{"at the beginning of the trial", 1, "a around the whole trial", true},
		{"before the window", 2, "a", false},
		{"after the window", 3, "a", false},
		{"at the end of the trial", 4, "a around the whole trial", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			trying(t, func(t *testing.T) error {
				s, f := sampler(t, Options{Window: 50 * time.Millisecond, Paces: true}, row{name: "a", whole: true}, row{name: "b", whole: true})
				f[0].fail = c.fail
				s.Begin()
				opens := now() + int64(20*time.Millisecond)
				s.Warm(opens)
				until(opens + int64(50*time.Millisecond))
				s.Over(now())
				<-s.done
				got := s.Finish()
				if got.Reading("b") == nil || got.WholeReading("b") == nil {
					return errors.New("the other source: " + missing(got, "b"))
				}
				if why := missing(got, c.told); !strings.Contains(why, "it broke") {
					return errors.New(c.told + ": " + why)
				}
				if (got.Reading("a") != nil) != c.reads {
					t.Errorf("a reading that is not there, or is: %+v", got)
				}
				return nil
			})
		})
	}
	t.Run("at once", func(t *testing.T) {
		s, _ := sampler(t, Options{})
		s.open(row{name: "a", open: func(*Options) (source, error) { return nil, errors.New("there is none") }})
		for range 2 {
			if got := s.Finish(); len(got.Missing) != 1 || missing(got, "a") != "there is none" {
				t.Errorf("got %+v", got)
			}
		}
	})
}

// Close ends a sampler in any state, any number of times.
func TestClose(t *testing.T) {
	for _, c := range []struct {
		name string
		live func(*Sampler, *fake)
	}{
		{"new", func(*Sampler, *fake) {}},
		{"begun", func(s *Sampler, _ *fake) { s.Begin() }},
		{"warm", func(s *Sampler, _ *fake) { s.Begin(); s.Warm(now() + int64(time.Hour)) }},
		{"open", func(s *Sampler, f *fake) { s.Begin(); s.Warm(now()); <-f.took }},
		{"over", func(s *Sampler, f *fake) { s.Begin(); s.Warm(now()); <-f.took; s.Over(now()) }},
		{"over before it was warm", func(s *Sampler, _ *fake) { s.Begin(); s.Over(now()) }},
		{"finished", func(s *Sampler, _ *fake) { s.Begin(); s.Finish() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, f := sampler(t, Options{Window: time.Hour}, row{name: "a"})
			c.live(s, f[0])
			if err := errors.Join(s.Close(), s.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	var none *Sampler
	none.Baseline(time.Second)
	none.Begin()
	if c := none.Finish(); c != nil || none.Close() != nil {
		t.Errorf("a sampler that is not there counts %+v", c)
	}
}

// The CPUs are looked at before the trial too, and nothing else is.
func TestBaseline(t *testing.T) {
	s, f := sampler(t, Options{}, row{name: result.SourceCPU}, row{name: "a"})
	s.Baseline(5 * time.Millisecond)
	got := s.Finish()
	if len(got.Baseline) != 1 || got.Baseline[0].Source != result.SourceCPU || got.Baseline[0].Elapsed < 5*time.Millisecond || got.Baseline[0].Counts["n"] != 1 {
		t.Errorf("got %+v", got.Baseline)
	}
	if n := len(f[1].times()); n > 0 {
		t.Errorf("another source was read %d times", n)
	}
}
