package stages

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

const hour = int64(3600e9)

// steps are how long the made-up stages of a leg take, in ns, by the point that each
// begins at; the last is the turn-around.
var steps = [result.Points]int64{100, 200, 300, 5000, 1000, 600, 500, 300, 20000, 1500, 400, 50}

// way is when a round trip of those steps is where, and how long it takes. more is added
// to the stages that begin at a point.
func way(more map[place]int64) (at [places]int64, length int64) {
	now := int64(0)
	for p := range places {
		at[p] = now
		now += steps[p.point()] + more[p]
	}
	return at, at[last]
}

// sees is what a trial has of round trips: of each the marks of both ends, without those
// points that the mask leaves out. The far end's clock is ahead by offset.
type sees struct {
	more    map[place]int64
	without []place
	offset  int64
	n       int
	own     bool // each host has a clock of its own
	test    spec.Test
	alone   bool // there is no far end
	both    bool // the near end saw what was at the far one
}

func (s sees) trial(block int, jitter func() int64) *result.Trial {
	test := s.test
	if test.Name == "" {
		test = spec.Test{Name: "udp_rr", Params: spec.Params{Size: 1, Explain: spec.ExplainAuto}}
	}
	t := &result.Trial{Test: test, Block: block}
	local := &result.Seen{By: result.SeenByBPF, Every: 8, OneClock: !s.own}
	remote := &result.Seen{By: result.SeenByBPF, Every: 8, OneClock: !s.own}
	t.Local = result.End{Role: result.Local, RTT: hist.New(), Seen: local}
	start := int64(1e12)
	for i := range s.n {
		more := map[place]int64{}
		for p, v := range s.more {
			more[p] = v
		}
		if jitter != nil {
			more[placeOf(result.LegRequest, result.PointWake)] += jitter()
		}
		at, length := way(more)
		near := result.SeenTrip{N: int64(8 * (i + 1)), At: start, Length: length}
		came := at[placeOf(result.LegRequest, result.PointReturn)]
		far := result.SeenTrip{N: near.N, At: start + came + s.offset, Length: at[placeOf(result.LegAnswer, result.PointXmit)] - came}
		for p := first + 1; p < last; p++ {
			if slices.Contains(s.without, p) {
				continue
			}
			m := result.Mark{Leg: p.leg(), Point: p.point(), At: at[p], CPU: 1}
			if p.end() == result.Local || s.both && p.point() != result.PointReturn && p.point() != result.PointCall {
				near.Marks = append(near.Marks, m)
			} else {
				m.At -= came
				far.Marks = append(far.Marks, m)
			}
		}
		local.Trips, remote.Trips = append(local.Trips, near), append(remote.Trips, far)
		t.Local.RTT.Record(length)
		start += length + 1000
	}
	if !s.alone {
		t.Remote = &result.End{Role: result.Remote, Seen: remote}
	}
	return t
}

// tableOfTrial is the table of one trial alone.
func tableOfTrial(t *testing.T, trial *result.Trial) (Table, *Variant) {
	t.Helper()
	tables := Build([]Of{{Trial: trial}}, true)
	if len(tables) != 1 || len(tables[0].Variants) != 1 {
		t.Fatalf("%d tables", len(tables))
	}
	return tables[0], &tables[0].Variants[0]
}

func wantParts(t *testing.T, table *Table, v *Variant, want map[string]float64) {
	t.Helper()
	got := map[string]float64{}
	sum := 0.0
	for i := range table.Stages {
		if v.PartsNS[i] != 0 {
			got[table.Stages[i].Label()+"@"+table.Stages[i].End] = v.PartsNS[i]
		}
		sum += v.PartsNS[i]
	}
	for name, ns := range want {
		if math.Abs(got[name]-ns) > 0.01 {
			t.Errorf("%s is %v, want %v", name, got[name], ns)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("and there is %v", got)
	}
	if math.Abs(sum-v.TotalNS) > 0.01 {
		t.Errorf("the stages are %v in all, the round trip %v", sum, v.TotalNS)
	}
}

// whole is what all stages of a leg are where all points are known; the sender's end
// first.
func whole(arrow, sender, receiver string, more map[string]float64) map[string]float64 {
	names := []string{"call", "send", "qdisc", "wire", "handler due", "handler", "stack", "signal", "wake-up", "receive", "return"}
	m := map[string]float64{}
	for i, n := range names {
		end := sender
		if i == 3 {
			end = ""
		} else if i > 3 {
			end = receiver
		}
		m[arrow+" "+n+"@"+end] = float64(steps[i])
	}
	for k, v := range more {
		m[k] += v
	}
	return m
}

func merged(all ...map[string]float64) map[string]float64 {
	m := map[string]float64{}
	for _, a := range all {
		for k, v := range a {
			m[k] = v
		}
	}
	return m
}

// turnAround is the stage in the far program.
var turnAround = map[string]float64{"> turn-around@remote": float64(steps[result.PointReturn])}

func TestAllPoints(t *testing.T) {
	for name, s := range map[string]sees{
		"each end its own": {n: 5}, "the near end sees both": {n: 5, both: true},
	} {
		table, v := tableOfTrial(t, s.trial(0, nil))
		t.Log(name)
		wantParts(t, &table, v, merged(whole(">", "local", "remote", nil), whole("<", "remote", "local", nil), turnAround))
		if v.Watched != 5 || v.Every != 8 || table.By != result.SeenByBPF {
			t.Errorf("watched %d, one in %d, by %s", v.Watched, v.Every, table.By)
		}
	}
}

// A stage that begins at a point which no round trip has is part of the one before.
func TestPointsNobodyKnows(t *testing.T) {
	s := sees{n: 5}
	for _, leg := range []int{result.LegRequest, result.LegAnswer} {
		for _, p := range []result.Point{result.PointEnter, result.PointArrive, result.PointHandle, result.PointReady, result.PointWake, result.PointRun, result.PointLeave} {
			s.without = append(s.without, placeOf(leg, p))
		}
	}
	table, v := tableOfTrial(t, s.trial(0, nil))
	wantParts(t, &table, v, map[string]float64{
		"> call and send@local": 300, "> qdisc@local": 300, "> wire to handler@": 6600, "> stack to return@remote": 22700, "> turn-around@remote": 50,
		"< call and send@remote": 300, "< qdisc@remote": 300, "< wire to handler@": 6600, "< stack to return@local": 22700,
	})
}

// Without a far end its time and the wire's are one, or, where its kernel was seen, the
// answer is that one's.
func TestKernelAnswers(t *testing.T) {
	s := sees{n: 5, alone: true, test: spec.Test{Name: "icmp_echo", Params: spec.Params{Size: 56, Explain: spec.ExplainAuto}}}
	table, v := tableOfTrial(t, s.trial(0, nil))
	total := 0.0
	for _, ns := range steps[3:] { // from the driver on, and back to it
		total += float64(ns)
	}
	want := merged(whole("<", "remote", "local", nil), map[string]float64{"> call@local": 100, "> send@local": 200, "> qdisc@local": 300,
		"> far host@": total + 100 + 200 + 300 + 5000})
	for _, far := range []string{"call", "send", "qdisc"} {
		delete(want, "< "+far+"@remote")
	}
	delete(want, "< wire@")
	wantParts(t, &table, v, want)

	s.both = true
	for p := range places {
		if p.end() == result.Remote && (p.point() > result.PointStack || p.point() < result.PointQueue) {
			s.without = append(s.without, p)
		}
	}
	table, v = tableOfTrial(t, s.trial(0, nil))
	want = merged(whole(">", "local", "remote", nil), whole("<", "remote", "local", nil), map[string]float64{"> answer in kernel@remote": 500 + 300 + 20000 + 1500 + 400 + 50 + 100 + 200})
	for _, name := range []string{"> stack@remote", "> signal@remote", "> wake-up@remote", "> receive@remote", "> return@remote", "< call@remote", "< send@remote"} {
		delete(want, name)
	}
	wantParts(t, &table, v, want)
}

// Of a point that most round trips have and one has not, the time around it is that one's
// not attributed; where a round trip can do without the point, a stage is zero.
func TestPointsOneLacks(t *testing.T) {
	full, without := sees{n: 6}, sees{n: 1, without: []place{placeOf(result.LegRequest, result.PointQueue), placeOf(result.LegAnswer, result.PointHandle), placeOf(result.LegAnswer, result.PointRun)}}
	trial, odd := full.trial(0, nil), without.trial(0, nil)
	odd.Local.Seen.Trips[0].At += hour
	odd.Remote.Seen.Trips[0].At += hour
	trial.Local.Seen.Trips = append(trial.Local.Seen.Trips, odd.Local.Seen.Trips...)
	trial.Remote.Seen.Trips = append(trial.Remote.Seen.Trips, odd.Remote.Seen.Trips...)
	read := Read(trial)
	all := stagesOf(&read.taken)
	parts := read.trips[6].divide(&read.taken, all)
	got := map[string]int64{}
	sum := int64(0)
	for i, ns := range parts {
		got[all[i].Label()] = ns
		sum += ns
	}
	if sum != read.trips[6].length {
		t.Errorf("the stages are %d in all of %d", sum, read.trips[6].length)
	}
	for name, want := range map[string]int64{
		"> call": 100, "> send": 0, "> qdisc": 0, "not attributed": 500, "> wire": 5000,
		"< handler due": 1600, "< handler": 0, // what is not told apart is before the handler
		"< wake-up": 0, "< receive": 21500,
	} {
		if got[name] != want {
			t.Errorf("%s is %d, want %d", name, got[name], want)
		}
	}
}

// What was at something else when the frame was sent is not what was told of it.
func TestHandlerThatRanAlready(t *testing.T) {
	trial := sees{n: 5}.trial(0, nil)
	for i := range trial.Remote.Seen.Trips {
		for k := range trial.Remote.Seen.Trips[i].Marks {
			if m := &trial.Remote.Seen.Trips[i].Marks[k]; m.Leg == result.LegRequest && (m.Point == result.PointArrive || m.Point == result.PointHandle) {
				m.At = -100_000
			}
		}
	}
	table, v := tableOfTrial(t, trial)
	want := merged(whole(">", "local", "remote", nil), whole("<", "remote", "local", nil), turnAround)
	want["> wire@"] = 6600
	delete(want, "> handler due@remote")
	delete(want, "> handler@remote")
	wantParts(t, &table, v, want)
}

// Two hosts' clocks are an hour apart; the ways are equal, so the offset is found.
func TestTwoClocks(t *testing.T) {
	s := sees{n: 20, own: true, offset: hour}
	table, v := tableOfTrial(t, s.trial(0, nil))
	wantParts(t, &table, v, merged(whole(">", "local", "remote", nil), whole("<", "remote", "local", nil), turnAround))
	if v.Clock == nil || v.Clock.Offset != hour || v.Clock.Error != 5000 || v.Clock.Pairs != 20 {
		t.Errorf("clock: %+v", v.Clock)
	}
	if said := strings.Join(table.Source(), " "); !strings.Contains(said, "3600") || !strings.Contains(said, "5.00 us") {
		t.Errorf("said of the clocks: %s", said)
	}

	// One way takes 8 us more: its share can't be known, the sum can.
	s.more = map[place]int64{placeOf(result.LegRequest, result.PointXmit): 8000}
	table, v = tableOfTrial(t, s.trial(0, nil))
	wire := 0.0
	for i := range table.Stages {
		if table.Stages[i].Name == "wire" {
			wire += v.PartsNS[i]
		}
	}
	if wire != 18000 {
		t.Errorf("both ways are %v, want 18000", wire)
	}
	if v.Clock.Error < 8000/2 || math.Abs(float64(v.Clock.Offset-hour)) > float64(v.Clock.Error) {
		t.Errorf("the clock is off by %d, and said to be by %d at the most", v.Clock.Offset-hour, v.Clock.Error)
	}
}

// What interfaces stamp themselves needs no common clock.
func TestHardwareStamps(t *testing.T) {
	trial := sees{n: 20, own: true, offset: hour}.trial(0, nil)
	for i := range trial.Local.Seen.Trips {
		trial.Local.Seen.Trips[i].Hardware, trial.Remote.Seen.Trips[i].Hardware = 40_000, 31_500
	}
	table, v := tableOfTrial(t, trial)
	if v.InterfacesNS == nil || *v.InterfacesNS != 8500 {
		t.Errorf("between the interfaces: %v, want 8500", v.InterfacesNS)
	}
	if said := strings.Join(table.Source(), " "); !strings.Contains(said, "8.50 us both ways") {
		t.Error(said)
	}
}

// experiment has blocks of two variants, of which the second differs by more.
func experiment(blocks int, more map[place]int64, seed uint64) []Of {
	rng := rand.New(rand.NewPCG(seed, 1))
	jitter := func() int64 { return rng.Int64N(2000) }
	plain := func(block int, of *result.Trial) *result.Trial {
		p := &result.Trial{Test: of.Test.Unwatched(), Block: block, Local: result.End{RTT: hist.New()}}
		for i := range of.Local.Seen.Trips {
			p.Local.RTT.Record(of.Local.Seen.Trips[i].Length * 10 / 11)
		}
		return p
	}
	var all []Of
	for b := range blocks {
		drift := rng.Int64N(30000)
		base := map[place]int64{placeOf(result.LegAnswer, result.PointWake): drift}
		other := map[place]int64{placeOf(result.LegAnswer, result.PointWake): drift}
		for p, v := range more {
			other[p] += v
		}
		x, y := sees{n: 40, more: base}.trial(b, jitter), sees{n: 40, more: other}.trial(b, jitter)
		all = append(all, Of{"softirq", 0, "", x}, Of{"kthread", 1, "", y}, Of{"softirq", 0, "", plain(b, x)}, Of{"kthread", 1, "", plain(b, y)})
	}
	return all
}

// A change is found in its stage through a drift that is ten times as large.
func TestChange(t *testing.T) {
	at := placeOf(result.LegRequest, result.PointArrive)
	tables := Build(experiment(8, map[place]int64{at: 5400}, 3), true)
	c := &tables[0].Changes[0]
	if !c.Paired || c.N != 8 || !c.Total.Sure() || math.Abs(*c.Total.Est-5400) > 700 {
		t.Fatalf("whole: %+v", c.Total)
	}
	sum := 0.0
	for i := range tables[0].Stages {
		sum += *c.Shares[i]
		p := c.Parts[i]
		if s := tables[0].Stages[i]; s.from == at {
			if *p.Lo > 5400 || *p.Hi < 5400 || *c.Shares[i] < 85 || *c.Shares[i] > 115 {
				t.Errorf("%s: %v (%v to %v), share %v", s.Label(), *p.Est, *p.Lo, *p.Hi, *c.Shares[i])
			}
		} else if s.Name != "wake-up" && *p.Est != 0 {
			t.Errorf("%s changed by %v", s.Label(), *p.Est)
		}
	}
	if math.Abs(sum-100) > 1e-6 {
		t.Errorf("the shares add up to %v", sum)
	}
	said := tables[0].Sentence(c)
	for _, want := range []string{"udp_rr size=1, softirq to kthread: the typical round trip +5.", "% between the scheduling of the receive handler and its running at the remote end"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q lacks %q", said, want)
		}
	}
	if v := tables[0].Variants[0]; v.Cost.Est == nil || math.Abs(*v.Cost.Est-10) > 1.5 || math.Abs(*v.Own.Est-10) > 2 {
		t.Errorf("cost of watching: %v, %v; want 10%%", v.Cost.Est, v.Own.Est)
	}
	if len(tables[0].Variants[1].Slow) != mostSlow {
		t.Errorf("slow: %+v", tables[0].Variants[1].Slow)
	}
}

// Where nothing differs nothing is said to, in nearly all of many experiments.
func TestFalseAlarms(t *testing.T) {
	alarms := 0
	const runs = 200
	for seed := range uint64(runs) {
		tables := Build(experiment(6, nil, seed), true)
		c := &tables[0].Changes[0]
		if c.Total.Sure() {
			alarms++
		} else if c.Shares[0] != nil {
			t.Fatal("shares of a change that is none")
		}
		if said := tables[0].Sentence(c); !c.Total.Sure() && !strings.Contains(said, "not different for sure") {
			t.Fatal(said)
		}
	}
	if alarms > runs/10 { // 3% is the level of six blocks
		t.Errorf("%d alarms of %d", alarms, runs)
	}
}

// A stage that takes what another gives is told as time, not as a share of the little
// that is left.
func TestGiveAndTake(t *testing.T) {
	tables := Build(experiment(8, map[place]int64{placeOf(result.LegRequest, result.PointArrive): 30000, placeOf(result.LegRequest, result.PointXmit): -4000, placeOf(result.LegAnswer, result.PointRun): 1500 - 25000}, 5), true)
	said := tables[0].Sentence(&tables[0].Changes[0])
	if !strings.Contains(said, "+30.0 us between the scheduling") || !strings.Contains(said, "against -") {
		t.Error(said)
	}
}

// Between separate runs trials have no partners.
func TestUnpaired(t *testing.T) {
	tables := Build(experiment(8, map[place]int64{placeOf(result.LegRequest, result.PointXmit): 50000}, 7), false)
	c := &tables[0].Changes[0]
	if c.Paired || !c.Total.Sure() || math.Abs(*c.Total.Est-50000) > 15000 {
		t.Errorf("%+v", c.Total)
	}
	if said := tables[0].Sentence(c); !strings.Contains(said, "on the wire, from driver to driver") {
		t.Error(said)
	}
}

// Whatever the marks are, stages add up to the round trip and none is negative.
func TestAddUp(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		trial := sees{n: rapid.IntRange(1, 6).Draw(r, "n"), own: rapid.Bool().Draw(r, "own"), alone: rapid.Bool().Draw(r, "alone")}.trial(0, nil)
		for _, s := range []*result.Seen{trial.Local.Seen, remoteSeen(trial)} {
			if s == nil {
				continue
			}
			for i := range s.Trips {
				x := &s.Trips[i]
				if rapid.IntRange(0, 9).Draw(r, "other number") == 0 {
					x.N = rapid.Int64Range(1, 100).Draw(r, "n")
				}
				var marks []result.Mark
				for _, m := range x.Marks {
					switch rapid.IntRange(0, 3).Draw(r, "what") {
					case 0:
						continue
					case 1:
						m.At = rapid.Int64Range(-1e6, 1e6).Draw(r, "at")
					}
					marks = append(marks, m)
				}
				x.Marks = marks
			}
		}
		for _, table := range Build([]Of{{Trial: trial}}, true) {
			for i := range table.Variants {
				v := &table.Variants[i]
				sum := 0.0
				for _, ns := range v.PartsNS {
					if ns < 0 {
						r.Fatalf("a stage of %v", ns)
					}
					sum += ns
				}
				if math.Abs(sum-v.TotalNS) > 1e-3 {
					r.Fatalf("stages of %v in all, a round trip of %v", sum, v.TotalNS)
				}
				for _, s := range v.Slow {
					all := int64(0)
					for _, ns := range s.PartsNS {
						all += ns
					}
					if all != s.TotalNS {
						r.Fatalf("a slow one: %d of %d", all, s.TotalNS)
					}
				}
			}
		}
		if _, err := Chrome(&bytes.Buffer{}, []Of{{Trial: trial}}); err != nil {
			r.Fatal(err)
		}
	})
}

func remoteSeen(t *result.Trial) *result.Seen {
	if t.Remote == nil {
		return nil
	}
	return t.Remote.Seen
}

// A trace's stages lie one behind the other within their round trip.
func TestChrome(t *testing.T) {
	var b bytes.Buffer
	n, err := Chrome(&b, experiment(6, nil, 1))
	if err != nil || n != 2*(tracedLong+tracedTypical) {
		t.Fatalf("%d round trips, %v", n, err)
	}
	var doc struct {
		Unit   string        `json:"displayTimeUnit"`
		Events []chromeEvent `json:"traceEvents"`
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil || doc.Unit != "ns" {
		t.Fatal(doc.Unit, err)
	}
	trip, end, trips := chromeEvent{}, 0.0, 0
	for _, e := range doc.Events {
		switch e.Cat {
		case "trip":
			if e.Proc == trip.Proc && math.Abs(end-(trip.At+*trip.Dur)) > 0.002 {
				t.Fatalf("stages end at %v, their round trip at %v", end, trip.At+*trip.Dur)
			}
			trip, end = e, e.At
			trips++
		case "stage":
			if math.Abs(e.At-end) > 0.002 {
				t.Fatalf("%s begins at %v, the one before ended at %v", e.Name, e.At, end)
			}
			end = e.At + *e.Dur
		}
	}
	if trips != n {
		t.Errorf("%d round trips, %d were told of", trips, n)
	}
}

func TestNothingWatched(t *testing.T) {
	plain := &result.Trial{Test: spec.Test{Name: "udp_rr", Params: spec.Params{Size: 1}}, Local: result.End{RTT: hist.New()}}
	if tables := Build([]Of{{Trial: plain}}, true); len(tables) != 0 {
		t.Error(tables)
	}
	if n, err := Chrome(&bytes.Buffer{}, []Of{{Trial: plain}}); n != 0 || err != nil {
		t.Error(n, err)
	}
	if Read(plain) != nil {
		t.Error("a trial in which nothing was watched")
	}
}
