package text

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

func TestOnTheWay(t *testing.T) {
	share := func(v float64) *float64 { return &v }
	p := spec.Params{Size: 1024}
	path := func(name string, v float64) compare.Place {
		return compare.Place{End: compare.PathEnd, Name: name, Share: v}
	}
	socket := compare.Place{End: result.Remote, Name: "socket_drops", Share: 0.09}
	r := compare.Report{Losses: []compare.Loss{
		{Test: "udp_stream", Params: p, Variant: "inline", Lost: 0.7, Places: []compare.Place{path("a.tx_dropped", 0.61), socket}, Unnamed: share(0.001)},
		{Test: "udp_stream", Params: p, Variant: "uthread", Lost: 0.9999, Places: []compare.Place{path("wire.a_to_b.drop_ring_full", 0.9999)}, Unnamed: share(0)},
		{Test: "udp_stream", Params: spec.Params{Size: 4096}, Variant: "inline", Lost: 0.8, Places: []compare.Place{path("b.rx_dropped", 0.5), socket}, Frames: true},
		{Test: "udp_stream", Params: spec.Params{Size: 4096}, Variant: "kthread", Lost: 0.043, Places: []compare.Place{}, Unnamed: share(0.043)},
	}}
	for _, v := range []string{"inline", "uthread"} {
		r.Counts = append(r.Counts,
			compare.Count{Test: "udp_stream", Params: p, Variant: v, End: compare.PathEnd, Name: "wire.a_to_b.frames_in", Median: 1000},
			compare.Count{Test: "udp_stream", Params: p, Variant: v, End: compare.PathEnd, Name: "wire.a_to_b.wakeups", Median: 8})
	}
	r.Counts[3].Median = 0
	want := []string{
		"On the way (medians over whole trials, warm-up included; a is the local",
		"  end's host, b the remote one's)",
		"udp_stream size=1KiB, share of what was sent",
		"  inline lost 70%: 61% at a's interface (tx_dropped), 9% at the",
		"    receiver's socket",
		"  uthread lost >99%: >99% in the wire (drop_ring_full)",
		"udp_stream size=4KiB, share of what was sent",
		"  inline lost 80%: 50% of the frames at b's interface (rx_dropped), 9%",
		"    at the receiver's socket",
		"  kthread lost 4.3%: 4.3% where nothing counts",
		"frames for each wake-up of the wire  inline  uthread",
		"  udp_stream size=1KiB                  125      n/a",
	}
	if d := cmp.Diff(want, onTheWay(&r)); d != "" {
		t.Error(d)
	}
	// A table that would be cut is left out, the rest stays.
	for i := range r.Counts {
		r.Counts[i].Variant += strings.Repeat("x", 30)
	}
	if got := strings.Join(onTheWay(&r), "\n"); strings.Contains(got, "wake-up") || !strings.Contains(got, "61%") {
		t.Errorf("too wide a table:\n%s", got)
	}
	if got := onTheWay(&compare.Report{}); got != nil {
		t.Errorf("of nothing: %q", got)
	}
}

func TestNotesOnIntervals(t *testing.T) {
	for _, c := range []struct {
		levels []float64
		want   string
	}{
		{[]float64{0.96, 0.97}, "with its 95% interval"},
		{[]float64{0, 0}, "with no interval from one block"},
		{[]float64{0.75, 0.75}, "with the widest interval that so few blocks give (75%)"},
		{[]float64{0.5, 0, 0.75}, "with the widest interval that so few blocks give (50 to 75%)"},
		{[]float64{0.97, 0.5}, "with its 95% interval, or the widest there is (from 50%) where few blocks have a figure"},
	} {
		var rows []compare.Comparison
		for _, l := range c.levels {
			rows = append(rows, compare.Comparison{Confidence: l})
		}
		if got := interval(rows, "blocks", 0.95); got != c.want {
			t.Errorf("%v: %q, want %q", c.levels, got, c.want)
		}
	}
}

// The notes say what the verdict is adjusted for, and that a loss is one at full
// speed.
func TestNotesOnFamilies(t *testing.T) {
	r := kept(t, "rx-context")
	flat := strings.Join(strings.Fields(render(t, r)), " ")
	for _, want := range []string{"adjusted for the 60 main figures of this run", "details in the JSON form",
		"The interval is the row's own; the verdict is for all rows together.", "UDP streams run at full speed"} {
		if !strings.Contains(flat, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
}

// What several warnings advise is said once.
func TestSharedAdviceIsToldOnce(t *testing.T) {
	r := compare.Report{}
	for _, text := range []string{"x lasted 1s", "something else", "y lasted 2s"} {
		w := result.Warning{Code: "overrun", Text: text, Advice: "take longer windows"}
		if text == "something else" {
			w.Advice = "look elsewhere"
		}
		r.Comparisons = append(r.Comparisons, compare.Comparison{Test: "tcp_rr", Metric: result.RTTP50, End: result.Local, Variant: "kthread", Warnings: []result.Warning{w}})
	}
	want := []string{"Warnings", "! tcp_rr: x lasted 1s.", "! tcp_rr: y lasted 2s. Advice: take longer windows.", "! tcp_rr: something else. Advice: look elsewhere."}
	if d := cmp.Diff(want, lay(warnings(&r))); d != "" {
		t.Error(d)
	}
}
