package compare

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"netdelta/internal/result"
)

// counted is one trial of udp_stream with the given counts.
func counted(local, remote, path map[string]int64) *cell {
	x := result.Trial{Local: result.End{Counts: local}, Remote: &result.End{Counts: remote}, Path: result.Path{Counts: path}}
	return &cell{figures: map[result.Taken]float64{{Name: result.Loss, End: result.Remote}: 0.5}, counters: countersOf(&x)}
}

func TestCountsAreMedians(t *testing.T) {
	type counts = map[string]int64
	b := bundle{test: tests(t, "udp_stream")[0], variant: "softirq", trials: []*cell{
		counted(counts{"sent": 10, "send_errors": 0}, counts{"unique": 9}, counts{"wire.a_to_b.frames_in": 10}),
		counted(counts{"sent": 30, "send_errors": 0}, counts{"unique": 9}, counts{"wire.a_to_b.frames_in": 30, "wire.a_to_b.drop_other": 6}),
		counted(counts{"send_errors": 0}, nil, counts{"wire.a_to_b.frames_in": 20}),
		counted(nil, nil, nil), // a path that counts nothing is no zero
	}}
	got := map[string]Count{}
	for _, c := range b.counts() {
		if c.Test != "udp_stream" || c.Variant != "softirq" || c.Params.Size == 0 {
			t.Errorf("of what: %+v", c)
		}
		got[c.End+" "+c.Name] = Count{Median: c.Median, Max: c.Max, N: c.N}
	}
	want := map[string]Count{
		"local sent":                  {Median: 20, Max: 30, N: 2}, // what an end did not count is not known
		"remote unique":               {Median: 9, Max: 9, N: 2},
		"path wire.a_to_b.frames_in":  {Median: 20, Max: 30, N: 3},
		"path wire.a_to_b.drop_other": {Median: 0, Max: 6, N: 3}, // what a path left out is zero
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestLossPlaces(t *testing.T) {
	type counts = map[string]int64
	place := func(end, name string, share float64) Place { return Place{end, name, share} }
	const frame, socket = PathEnd, result.Remote
	for _, c := range []struct {
		name    string
		cell    *cell
		lost    float64
		places  []Place
		unnamed float64 // NaN for null
		frames  bool
	}{
		{"every place", counted(counts{"sent": 500, "sent_all": 1000}, counts{"received_all": 300, "socket_drops": 1, "socket_drops_all": 100},
			counts{"a.tx_packets": 800, "a.tx_dropped": 200, "wire.a_to_b.drop_ring_full": 250, "wire.b_to_a.drop_ring_full": 9, "b.rx_dropped": 50, "a.rx_dropped": 7}),
			0.7, []Place{place(frame, "a.tx_dropped", 0.2), place(frame, "wire.a_to_b.drop_ring_full", 0.25), place(frame, "b.rx_dropped", 0.05),
				place(socket, "socket_drops", 0.1)}, 0.1, false},
		{"window counts only", counted(counts{"sent": 1000}, counts{"socket_drops": 400}, nil),
			0.5, []Place{place(socket, "socket_drops", 0.4)}, 0.1, false},
		{"three frames a datagram", counted(counts{"sent_all": 1000}, counts{"received_all": 500, "socket_drops_all": 100}, counts{"a.tx_packets": 2400, "a.tx_dropped": 600}),
			0.5, []Place{place(frame, "a.tx_dropped", 0.2), place(socket, "socket_drops", 0.1)}, math.NaN(), true},
		{"no sender's count", counted(nil, counts{"socket_drops": 400}, nil), 0.5, []Place{}, math.NaN(), false},
	} {
		b := bundle{test: tests(t, "udp_stream")[0], trials: []*cell{c.cell}}
		l, lost := b.loss()
		if !lost {
			t.Errorf("%s: nothing lost", c.name)
			continue
		}
		near := cmpopts.EquateApprox(0, 1e-12)
		if d := cmp.Diff([]any{c.lost, c.places, c.frames}, []any{l.Lost, l.Places, l.Frames}, near); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		if got := value(l.Unnamed); math.Abs(got-c.unnamed) > 1e-12 || math.IsNaN(got) != math.IsNaN(c.unnamed) {
			t.Errorf("%s: unnamed %v, want %v", c.name, got, c.unnamed)
		}
	}
	whole := bundle{test: tests(t, "udp_stream")[0], trials: []*cell{counted(counts{"sent_all": 10}, counts{"received_all": 10}, nil)}}
	if l, lost := whole.loss(); lost {
		t.Errorf("nothing is lost, and yet %+v", l)
	}
	rr := bundle{test: tests(t, "udp_rr")[0], trials: whole.trials}
	if l, lost := rr.loss(); lost {
		t.Errorf("a request's loss has no places, and yet %+v", l)
	}
}

// A report has the counts of every variant, and says where the streams that
// lost anything did so.
func TestReportHasCounts(t *testing.T) {
	s := rxContext(t, 6)
	r := build(t, s.plan, s.run(), Options{})
	for _, level := range s.plan.Factors[0].Levels {
		for _, test := range s.plan.Tests {
			found := slices.ContainsFunc(r.Counts, func(c Count) bool { return c.Test == test.Name && c.Variant == level && c.N == 6 })
			if want := test.Name != "tcp_stream"; found != want { // which the simulation gives no count but zero
				t.Errorf("counts of %s under %s: %v, want %v", test.Name, level, found, want)
			}
		}
	}
	if len(r.Losses) != 1 {
		t.Fatalf("%d losses, want that of kthread, the others lose next to nothing: %+v", len(r.Losses), r.Losses)
	}
	l := r.Losses[0]
	if l.Variant != "kthread" || math.Abs(l.Lost-0.0323) > 0.001 || len(l.Places) != 2 || math.Abs(l.Places[0].Share/l.Places[1].Share-3) > 0.01 || value(l.Unnamed) > 0.001 {
		t.Errorf("kthread: %+v", l)
	}
}

// The details of a report take no power from the rows that it shows.
func TestDetailsAreAFamilyOfTheirOwn(t *testing.T) {
	s := rxContext(t, 8)
	r := build(t, s.plan, s.run(), Options{})
	n := Families{}
	for _, c := range r.Comparisons {
		switch {
		case c.P == nil:
		case c.Rank() == result.Detail:
			n.Detail++
		default:
			n.Main++
		}
	}
	if n != r.Families || n.Main == 0 || n.Detail == 0 {
		t.Errorf("families %+v, counted %+v", r.Families, n)
	}
	// Rows of the same differences, once with a crowd of wild details beside
	// them and once alone: p of the main rows must be the same.
	differences := func(scale float64, k int) []float64 {
		d := make([]float64, 8)
		for i := range d {
			d[i] = scale * (0.9 + math.Sin(float64(7*i+3*k)))
		}
		return d
	}
	row1 := func(metric string, d []float64) *row {
		r := &row{Comparison: Comparison{Test: "tcp_rr", Metric: metric, End: result.Local, Scale: Percent, Better: result.Lower, N: 8}, differences: d}
		r.DeltaPct = number(1)
		return r
	}
	alone := []*row{row1(result.RTTP50, differences(0.1, 0))}
	judgeFamilies(alone, 1, familyLevel)
	crowd := []*row{row1(result.RTTP50, differences(0.1, 0))}
	for k := range 40 {
		crowd = append(crowd, row1(result.RTTMax, differences(1, k+1)))
	}
	got := judgeFamilies(crowd, 1, familyLevel)
	if value(alone[0].PAdj) != value(crowd[0].PAdj) || got != (Families{1, 40}) {
		t.Errorf("p_adj %v alone and %v beside details; families %+v", value(alone[0].PAdj), value(crowd[0].PAdj), got)
	}
	all := append([]*row{}, crowd...)
	judgeFamily(all, 1, familyLevel)
	if !(value(all[0].PAdj) > value(alone[0].PAdj)) {
		t.Errorf("the crowd costs nothing even in one family (%v): the test sees nothing", value(all[0].PAdj))
	}
}

func TestBlocksForRowsWithGaps(t *testing.T) {
	for _, c := range []struct{ n, ran, need, want int }{
		{6, 6, 7, 7}, {2, 6, 6, 18}, {4, 6, 6, 9}, {5, 6, 6, 8}, {0, 0, 6, 6}, {3, 3, 6, 6}, {1, 6, 5000, 10000},
	} {
		r := row{Comparison: Comparison{N: c.n}, ran: c.ran}
		if got := r.blocksFor(c.need); got != c.want {
			t.Errorf("%d of %d blocks, %d differences needed: %d blocks, want %d", c.n, c.ran, c.need, got, c.want)
		}
	}
}

// The sender's own speed is shown, and never told as the path's.
func TestOfferedIsNoAnswer(t *testing.T) {
	d, ok := result.DefinitionOf(tests(t, "udp_stream")[0], result.Offered, result.Local)
	if !ok || d.Rank != result.Main {
		t.Errorf("offered of udp_stream has rank %v, %v; want it shown beside loss", d.Rank, ok)
	}
	goodput := Comparison{Test: "udp_stream", Metric: result.Goodput, Verdict: Same}
	rows := []Comparison{goodput, {Test: "udp_stream", Metric: result.Offered, Verdict: Worse, Scale: Percent, DeltaPct: number(-50)}}
	if got := contrary(goodput, rows); got != "" {
		t.Errorf("the answer says but %s", got)
	}
}

// The way of requests and answers has the counters of both directions, and
// shares of the requests.
func TestLossPlacesForthAndBack(t *testing.T) {
	x := result.Trial{Test: tests(t, "udp_rr")[0],
		Local:  result.End{Counts: map[string]int64{"sent_all": 1000, "received_all": 400, "socket_drops_all": 60}},
		Remote: &result.End{Counts: map[string]int64{"sent_all": 650, "received_all": 650, "socket_drops_all": 150}},
		Path: result.Path{Counts: map[string]int64{"a.tx_packets": 900, "a.tx_dropped": 100, "wire.a_to_b.drop_ring_full": 50,
			"b.tx_packets": 650, "wire.b_to_a.drop_ring_full": 90, "a.rx_dropped": 30}}}
	loss := func() (Loss, bool) {
		b := bundle{test: x.Test, trials: []*cell{newCell(&x)}}
		return b.loss()
	}
	l, lost := loss()
	want := []Place{{PathEnd, "a.tx_dropped", 0.1}, {PathEnd, "wire.a_to_b.drop_ring_full", 0.05}, {result.Remote, "socket_drops", 0.15},
		{PathEnd, "wire.b_to_a.drop_ring_full", 0.09}, {PathEnd, "a.rx_dropped", 0.03}, {result.Local, "socket_drops", 0.06}}
	near := cmpopts.EquateApprox(0, 1e-12)
	if d := cmp.Diff(want, l.Places, near); !lost || d != "" || !cmp.Equal([]float64{l.Lost, value(l.Unnamed)}, []float64{0.6, 0.12}, near) {
		t.Errorf("lost %v, unnamed %v, places: %s", l.Lost, value(l.Unnamed), d)
	}
	x.Test.Params.Load = "tcp_stream"
	if l, lost := loss(); lost {
		t.Errorf("the counters have a stream's packets, too, and yet %+v", l)
	}
	x.Test.Params.Load = ""
	delete(x.Local.Counts, "received_all")
	if l, lost := loss(); lost {
		t.Errorf("the ends did not count, and yet %+v", l)
	}
}
