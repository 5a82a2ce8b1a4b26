package compare

import (
	"strings"
	"testing"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// heldAs is a row whose throughput something held, between the two medians.
func heldAs(c Comparison, by result.HeldBy, limit, a, b float64) Comparison {
	c.Held = &result.Held{By: by, Limit: limit}
	c.A.Median, c.B.Median = number(a), number(b)
	return c
}

func atEnd(c Comparison, end string) Comparison {
	c.End = end
	return c
}

func TestPinnedAnswer(t *testing.T) {
	full := heldAs(said("tcp_stream", "goodput", 10, 0.1, -0.2, 0.3, Same), result.HeldByLink, 1e9, 940e6, 941e6)
	local := atEnd(said("tcp_stream", "cpu_per_byte", 10, -23, -25, -20, Better), result.Local)
	remote := atEnd(said("tcp_stream", "cpu_per_byte", 10, 0, -1, 1, Same), result.Remote)
	rr := said("tcp_rr", "rtt_p50", 10, 57.1, 52, 60.2, Worse)
	for _, c := range []struct {
		name string
		rows []Comparison
		want string
	}{
		{"cost leads", []Comparison{rr, full, local, remote},
			"kthread against softirq: tcp_stream throughput is held by the link (940 of 1000 Mbit/s), so cost decides: cpu_per_byte local -23% (-25 to -20), better, remote same; tcp_rr p50 +57% (52 to 60), worse."},
		{"no cost", []Comparison{full},
			"kthread against softirq: tcp_stream throughput is held by the link (940 of 1000 Mbit/s) and can't tell, and what it cost was not measured."},
		{"cost by soak alone", []Comparison{full, atEnd(said("tcp_stream", "cpu_soak_per_byte", 10, 12, 10, 14, Worse), result.Local)},
			"kthread against softirq: tcp_stream throughput is held by the link (940 of 1000 Mbit/s), so cost decides: cpu_soak_per_byte local +12% (10 to 14), worse."},
		{"a rate", []Comparison{heldAs(full, result.HeldByRate, 1e8, 1e8, 1e8), local},
			"kthread against softirq: tcp_stream throughput is held by rate (100 Mbit/s), so cost decides: cpu_per_byte local -23% (-25 to -20), better."},
		{"something else is worse", []Comparison{full, local, said("tcp_stream", "retransmits", 10, 200, 100, 300, Worse)},
			"kthread against softirq: tcp_stream throughput is held by the link (940 of 1000 Mbit/s), so cost decides: cpu_per_byte local -23% (-25 to -20), better, but retransmits +200 (100 to 300) /s, worse."},
		{"sizes", []Comparison{
			sized(full, 1<<10), sized(full, 1<<12), sized(full, 1<<14),
			sized(local, 1<<10), sized(local, 1<<12), sized(atEnd(said("tcp_stream", "cpu_per_byte", 10, 1, -4, 5, Unsure), result.Local), 1<<14)},
			"kthread against softirq: tcp_stream throughput at 3 sizes is held by the link (940 of 1000 Mbit/s), so cost decides: cpu_per_byte local -23% to +1.0% (2 better, 1 unsure)."},
		{"too early", []Comparison{heldAs(said("tcp_stream", "goodput", 2, 0, 0, 0, Unsure), result.HeldByLink, 1e9, 940e6, 940e6), atEnd(said("tcp_stream", "cpu_per_byte", 2, -23, -25, -20, Unsure), result.Local)},
			"kthread against softirq: no verdict from 2 blocks (6 are needed); so far tcp_stream throughput is held by the link (940 of 1000 Mbit/s), so cost decides: cpu_per_byte local -23% (-25 to -20)."},
	} {
		r := Report{Comparisons: c.rows}
		if got := strings.Join(r.Answer(), "\n"); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// overGigabit is a trial of tcp_stream over an interface of 1 Gbit/s.
func overGigabit(block int, variant string, bits float64) result.Trial {
	test, _ := spec.NewTest("tcp_stream", spec.Params{})
	device := result.Reading{Source: result.SourceDevice, Levels: map[string]int64{"speed_bps": 1e9, "mtu": 1500}}
	end := func(role string) result.End {
		return result.End{Role: role, Elapsed: 1e9, Messages: 1, Bytes: int64(bits / 8),
			Counters: &result.Counters{Readings: []result.Reading{device}}}
	}
	remote := end(result.Remote)
	return result.Trial{Block: block, Variant: spec.Variant{"rx": variant}, Test: test, Window: 1e9, Local: end(result.Local), Remote: &remote}
}

// What holds one variant alone leaves throughput to tell them apart; and of
// separate runs both must have been held alike.
func TestHeldRows(t *testing.T) {
	plan := spec.Plan{Experiment: "x", Factors: []spec.Factor{{Name: "rx", Levels: []string{"a", "b"}}}, Baseline: spec.Variant{"rx": "a"},
		Tests: []spec.Test{overGigabit(0, "a", 1).Test}, Blocks: 10, Window: 1e9, Margin: 0.02}
	for _, c := range []struct {
		name  string
		a, b  float64
		spoil int // blocks of b that are not full
		held  bool
	}{
		{"both full", 940e6, 941e6, 0, true},
		{"nearly all", 940e6, 941e6, 1, true},
		{"not nearly all", 940e6, 941e6, 2, false},
		{"one full", 940e6, 600e6, 0, false},
		{"none", 500e6, 600e6, 0, false},
	} {
		var trials, old, new []result.Trial
		for block := range plan.Blocks {
			a, b := overGigabit(block, "a", c.a), overGigabit(block, "b", c.b)
			if block < c.spoil {
				b = overGigabit(block, "b", c.b/2)
			}
			trials, old, new = append(trials, a, b), append(old, a), append(new, b)
		}
		paired, err := Build(plan, trials, Options{})
		if err != nil {
			t.Fatal(err)
		}
		separate, err := Runs([]Kept{{result.Run{ID: "a"}, old}}, []Kept{{result.Run{ID: "b"}, new}}, RunsOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for what, r := range map[string]*Report{"blocks": &paired, "runs": &separate} {
			for _, row := range r.Comparisons {
				want := c.held && row.Metric == result.Goodput
				if (row.Held != nil) != want {
					t.Errorf("%s, %s: %s at %s is held by %+v, want %t", c.name, what, row.Metric, row.End, row.Held, want)
				}
			}
		}
	}
}
