package calibrate

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// path is a made-up path: the noise of a trial's logarithm at a window of a
// second, which falls with its root, and a level that walks and swings.
type path struct {
	noise    float64 // at a second
	steady   float64 // of each trial, whatever its length
	step     float64 // of the level's walk, a trial
	overhead time.Duration
	tests    []string
}

func (p path) tested(t testing.TB) []spec.Test {
	t.Helper()
	var all []spec.Test
	for _, name := range p.tests {
		test, err := spec.NewTest(name, spec.Params{})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, test)
	}
	return all
}

// measured runs rounds in which each window has so many blocks.
func (p path) measured(t testing.TB, seed uint64, rounds int, blocks map[time.Duration]int) []Series {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	tests := p.tested(t)
	var windows []time.Duration
	for _, w := range []time.Duration{50 * time.Millisecond, 200 * time.Millisecond, 800 * time.Millisecond} {
		if blocks[w] > 0 {
			windows = append(windows, w)
		}
	}
	series := make([]Series, len(windows))
	at, level := time.Unix(1e9, 0).UTC(), 0.0
	order := 0
	for round := range rounds {
		for _, i := range rng.Perm(len(windows)) {
			w := windows[i]
			s := &series[i]
			plan := spec.Plan{Experiment: "a-a", Factors: []spec.Factor{{Name: "rx", Levels: []string{"a", "a-again"}}},
				Baseline: spec.Variant{"rx": "a"}, Tests: tests, Blocks: blocks[w], Warmup: w / 4, Window: w, Seed: seed + uint64(round), Margin: 0.02}
			for _, slot := range plan.Schedule() {
				for _, test := range slot.Tests {
					level += p.step * rng.NormFloat64()
					sd := math.Hypot(p.steady, p.noise/math.Sqrt(w.Seconds()))
					tr := trial(slot, test, w, math.Exp(level+sd*rng.NormFloat64()), at)
					tr.Block += s.Plan.Blocks
					tr.Order = order
					order++
					s.Trials = append(s.Trials, tr)
					at = at.Add(w + w/4 + p.overhead)
				}
			}
			plan.Blocks += s.Plan.Blocks
			s.Plan = plan
			order++ // another window comes between
		}
	}
	return series
}

func trial(slot spec.Slot, test spec.Test, w time.Duration, factor float64, at time.Time) result.Trial {
	t := result.Trial{Schema: result.Schema, Block: slot.Block, Attempt: 1, Variant: slot.Variant, Test: test, Start: at, Warmup: w / 4, Window: w,
		Local: result.End{Role: result.Local, Elapsed: w, Counts: map[string]int64{}}}
	if test.Kind().Pattern == spec.Stream {
		t.Remote = &result.End{Role: result.Remote, Elapsed: w, Bytes: int64(1e9 * factor * w.Seconds()), Counts: map[string]int64{}}
		t.Local.Bytes, t.Local.Counts["retransmits"] = t.Remote.Bytes, 0
		return t
	}
	h := hist.New()
	for range 200 {
		h.Record(int64(1e6 * factor))
	}
	t.Local.RTT, t.Local.Messages = h, int64(w.Seconds()/(1e-3*factor))
	t.Local.Counts["sent"], t.Local.Counts["lost"], t.Local.Counts["late"] = t.Local.Messages, 0, 0
	return t
}

func built(t testing.TB, s []Series, o Options) Report {
	t.Helper()
	if o.Margin == 0 {
		o.Margin = 0.02
	}
	r, err := Build(s, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Fatal(err)
	}
	return r
}

func within(t testing.TB, what string, got *float64, want, share float64) {
	t.Helper()
	if got == nil || math.Abs(*got-want) > share*want {
		g := math.NaN()
		if got != nil {
			g = *got
		}
		t.Errorf("%s is %.4g, want %.4g within %.0f%%", what, g, want, 100*share)
	}
}

var usual = map[time.Duration]int{50 * time.Millisecond: 6, 200 * time.Millisecond: 3, 800 * time.Millisecond: 1}

// White noise without drift: what is known of it comes out.
func TestSteadyPath(t *testing.T) {
	p := path{noise: 0.01, overhead: 50 * time.Millisecond, tests: []string{"udp_rr", "tcp_stream"}}
	r := built(t, p.measured(t, 3, 40, usual), Options{Target: "lab", Seed: 1})
	if len(r.Windows) != 3 || r.Windows[0].Blocks != 240 || r.Windows[2].Blocks != 40 || r.Trials != 4*400 {
		t.Fatalf("%+v", r)
	}
	for _, w := range r.Windows {
		length := time.Duration(w.WindowNS)
		block := 4 * (length + length/4 + p.overhead)
		if w.BlockNS == nil || time.Duration(*w.BlockNS) != block || time.Duration(*w.OverheadNS) != length/4+p.overhead {
			t.Errorf("%v: a block takes %v, want %v", length, w.BlockNS, block)
		}
		for _, fl := range w.Floors {
			want := 100 * math.Sqrt2 * p.noise / math.Sqrt(length.Seconds())
			within(t, length.String()+" noise of "+fl.Metric, fl.NoisePct, want, 0.25)
			if math.Abs(*fl.Autocorrelation) > 0.4 {
				t.Errorf("%v: autocorrelation %v of nothing that drifts", length, *fl.Autocorrelation)
			}
		}
		for _, a := range w.Alarms {
			if a.Paired.LoPct == nil || *a.Paired.LoPct > 5 || *a.Redrawn.LoPct > 5 || a.InTurnRows.Of < 4*a.Paired.Of {
				t.Errorf("%v: %d blocks: %+v", length, a.Blocks, a)
			}
		}
	}
	// 80% power in a family, by the normal approximation: at least 2.8 standard errors.
	fl := r.Windows[1].Floors[0]
	if d := fl.Detectable[2]; d.Blocks != 24 || *d.EffectPct < 2.8**fl.NoisePct/math.Sqrt(24) || *d.EffectPct > 5**fl.NoisePct/math.Sqrt(24) ||
		*d.TimeNS != 24**r.Windows[1].BlockNS {
		t.Errorf("24 blocks: %+v", d)
	}
	for _, b := range r.Best {
		// Overhead weighs least in the longest window, and nothing else counts.
		if b.WindowNS < int64(200*time.Millisecond) || b.Limit == ByDrift {
			t.Errorf("%+v", b)
		}
	}
	if !strings.HasPrefix(r.Answer[0], "This path sees ") || len(r.Warnings) > 0 {
		t.Errorf("%q, %+v", r.Answer, r.Warnings)
	}
}

// A level that walks, and noise that a longer window does not take away: the
// pairs keep their promise, A then B does not, and short windows are best.
func TestDriftingPath(t *testing.T) {
	p := path{steady: 0.01, step: 0.01, overhead: 5 * time.Millisecond, tests: []string{"udp_rr", "tcp_stream"}}
	r := built(t, p.measured(t, 5, 60, usual), Options{Target: "lab"})
	var paired, turn Share
	for _, w := range r.Windows {
		for _, a := range w.Alarms {
			if a.Blocks == 10 {
				paired.Count, paired.Of = paired.Count+a.Paired.Count, paired.Of+a.Paired.Of
				turn.Count, turn.Of = turn.Count+a.InTurn.Count, turn.Of+a.InTurn.Of
			}
		}
		for _, fl := range w.Floors {
			if !fl.Drifts || *fl.Autocorrelation < 0.5 || *fl.SwingPct < 5 {
				t.Errorf("a walk is not seen: %+v", fl)
			}
		}
	}
	if paired.complete(); *paired.LoPct > 5 {
		t.Errorf("false alarms: %+v", paired)
	}
	if turn.complete(); *turn.Pct < 50 {
		t.Errorf("A then B raises only %+v", turn)
	}
	for _, b := range r.Best {
		if b.WindowNS != int64(50*time.Millisecond) || !b.Sure || b.Limit != ByDrift {
			t.Errorf("%+v", b)
		}
	}
	if all := strings.Join(r.Answer, " "); !strings.Contains(all, "drifted") || !strings.Contains(all, "slow drift") {
		t.Errorf("%q", r.Answer)
	}
}

// The promised 5% over many calibrations of a drifting path.
func TestFalseAlarmsOverManyCalibrations(t *testing.T) {
	p := path{noise: 0.005, step: 0.01, tests: []string{"udp_rr"}}
	var paired, redrawn Share
	for seed := range uint64(40) {
		f := figuresOf(p.measured(t, 100+seed, 1, map[time.Duration]int{50 * time.Millisecond: 60})[0])
		a, ok := f.alarms(6, seed)
		if !ok {
			t.Fatal("no comparison")
		}
		paired.Count, paired.Of = paired.Count+a.Paired.Count, paired.Of+a.Paired.Of
		redrawn.Count, redrawn.Of = redrawn.Count+a.Redrawn.Count, redrawn.Of+a.Redrawn.Of
	}
	paired.complete()
	redrawn.complete()
	t.Logf("%d of %d comparisons, %.1f%% with redrawn labels", paired.Count, paired.Of, *redrawn.Pct)
	if *paired.LoPct > 5 || *redrawn.Pct > 6 || *redrawn.Pct < 1 {
		t.Errorf("%+v, redrawn %+v", paired, redrawn)
	}
}

// Whatever is missing, nothing is made up.
func TestFewTrials(t *testing.T) {
	p := path{noise: 0.01, tests: []string{"udp_rr", "tcp_stream"}}
	s := p.measured(t, 1, 1, usual)
	r := built(t, s, Options{Partial: true})
	if w := r.Windows[2]; w.Floors[0].NoisePct != nil || len(w.Alarms) != 0 {
		t.Errorf("one block says %+v", w)
	}
	codes := map[string]int{}
	for _, w := range r.Warnings {
		codes[w.Code]++
	}
	if codes["partial"] != 1 || codes["few-blocks"] != 3 {
		t.Errorf("%+v", r.Warnings)
	}
	// A block that lacks a trial is left out, and the last attempt counts.
	one := s[0]
	again := one.Trials[1]
	again.Attempt = 2
	one.Trials = append(one.Trials[1:], again)
	if f := figuresOf(one); len(f.starts) != 5 {
		t.Errorf("%d blocks of 6, one of which lacks a trial", len(f.starts))
	}
	s[0].Trials, s[1].Trials, s[2].Trials = nil, nil, nil
	if _, err := Once(s[0]); err == nil {
		t.Error("a comparison of no trial")
	}
	r = built(t, s, Options{})
	if r.TookNS != 0 || len(r.Best) != 0 || !strings.Contains(r.Answer[0], "could not be told") {
		t.Errorf("of no trial: %+v", r)
	}
	if _, err := Build(nil, Options{}); err == nil {
		t.Error("a report of no series")
	}
	if _, err := Build([]Series{s[0], s[0]}, Options{}); err == nil {
		t.Error("two series of one window")
	}
	if _, err := Build([]Series{{}}, Options{}); err == nil {
		t.Error("a plan without a factor")
	}
}

// A figure that is zero somewhere has no relative change, and its row is left
// out rather than its trial.
func TestZeroFigure(t *testing.T) {
	s := path{noise: 0.01, tests: []string{"udp_rr"}}.measured(t, 1, 1, map[time.Duration]int{50 * time.Millisecond: 8})
	before := len(figuresOf(s[0]).rows)
	s[0].Trials[3].Local.Messages = 0
	if f := figuresOf(s[0]); len(f.rows) != before-1 || len(f.starts) != 8 {
		t.Errorf("%d rows of %d in %d blocks", len(f.rows), before, len(f.starts))
	}
}

// A level that rises steadily is a difference to those who measure in turn.
func TestOnce(t *testing.T) {
	s := path{noise: 1e-4, tests: []string{"udp_rr"}}.measured(t, 2, 1, map[time.Duration]int{50 * time.Millisecond: 8})[0]
	for i := range s.Trials {
		s.Trials[i] = trial(spec.Slot{Block: s.Trials[i].Block, Variant: s.Trials[i].Variant}, s.Trials[i].Test, s.Plan.Window, 1+0.01*float64(i), s.Trials[i].Start)
	}
	got, err := Once(s)
	if err != nil || got.Blocks != 8 || got.Rows != 3 && got.Rows != 4 || got.InTurn < 2 || got.InTurnHead != 1 || got.Paired > got.Rows {
		t.Errorf("%+v, %v", got, err)
	}
	// A real difference is seen by blocks, too.
	for i := range s.Trials {
		f := 1 + 0.001*float64(i)
		if s.Trials[i].Variant["rx"] == "a" {
			f *= 1.1
		}
		s.Trials[i] = trial(spec.Slot{Block: s.Trials[i].Block, Variant: s.Trials[i].Variant}, s.Trials[i].Test, s.Plan.Window, f, s.Trials[i].Start)
	}
	if got, err = Once(s); err != nil || got.Paired == 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
