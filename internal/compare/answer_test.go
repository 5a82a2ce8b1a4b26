package compare

import (
	"math"
	"slices"
	"strings"
	"testing"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// said is a row in percent of kthread against softirq.
func said(test, metric string, n int, est, lo, hi float64, v Verdict) Comparison {
	t, _ := spec.NewTest(test, spec.Params{})
	all := result.Definitions(t)
	d := all[slices.IndexFunc(all, func(d result.Definition) bool { return d.Name == metric })]
	c := Comparison{Test: t.Name, Params: t.Params, Factor: "rx", Baseline: "softirq", Variant: "kthread",
		Metric: metric, End: d.End, Unit: d.Unit, Scale: d.Scale, Better: d.Better, N: n, Verdict: v}
	if d.Scale == Percent {
		c.DeltaPct, c.LoPct, c.HiPct = number(est), number(lo), number(hi)
	} else {
		c.Delta, c.Lo, c.Hi = number(est), number(lo), number(hi)
	}
	return c
}

func sized(c Comparison, size int) Comparison {
	c.Params.Size = size
	return c
}

func at(c Comparison, variant string) Comparison {
	c.Variant = variant
	return c
}

func both(c Comparison) Comparison {
	c.Factor, c.Baseline, c.Variant = "rx:offload", "softirq:off", "kthread:on"
	return c
}

func under(c Comparison, what string) Comparison {
	c.Under = what
	return c
}

func TestAnswer(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name   string
		report Report
		want   string // sentences, one a line
	}{
		{"nothing", Report{}, "Nothing was compared."},
		{"nothing of a run that ended early", Report{Partial: true, Planned: 8}, "Partial, 0 of 8 blocks complete. Nothing was compared."},
		{"what differs first",
			Report{Comparisons: []Comparison{
				said("udp_rr", "rtt_p50", 10, 3, -4, 10, Unsure),
				said("tcp_rr", "rtt_p50", 10, 57.1, 52, 60.2, Worse),
				said("tcp_rr", "rtt_p99", 10, 70, 60, 80, Worse),
				said("udp_stream", "goodput", 10, 0.3, -0.4, 0.9, Same),
			}},
			"kthread against softirq: tcp_rr p50 +57% (52 to 60), worse; udp_stream goodput same; udp_rr p50 +3.0% (-4.0 to 10), unsure."},
		{"a headline that is not the whole story",
			Report{Comparisons: []Comparison{
				said("tcp_rr", "rtt_p50", 10, -10, -12, -8, Better),
				said("tcp_rr", "rtt_p99", 10, 70, 60, 80, Worse),
				said("udp_stream", "goodput", 10, 0.3, -0.4, 0.9, Same),
				said("udp_stream", "loss", 10, 0.031, 0.02, 0.04, Worse),
			}},
			"kthread against softirq: tcp_rr p50 -10% (-12 to -8.0), better, but p99 +70% (60 to 80), worse; udp_stream goodput same, but loss +3.1 pp (2.0 to 4.0), worse."},
		{"details don't contradict",
			Report{Comparisons: []Comparison{
				said("tcp_rr", "rtt_p50", 10, 0, -1, 1, Same),
				said("tcp_rr", "rtt_max", 10, 70, 60, 80, Worse),
			}},
			"kthread against softirq: tcp_rr p50 same."},
		{"too few blocks",
			Report{Partial: true, Blocks: 3, Planned: 8, Comparisons: []Comparison{
				said("tcp_rr", "rtt_p50", 3, 57.1, 52, 60.2, Unsure),
				said("tcp_stream", "goodput", 2, -3, -5, -1, Unsure),
			}},
			"Partial, 3 of 8 blocks complete. kthread against softirq: no verdict from 3 blocks (6 are needed); so far tcp_rr p50 +57% (52 to 60); tcp_stream goodput -3.0% (-5.0 to -1.0)."},
		{"one block",
			Report{Blocks: 1, Planned: 1, Comparisons: []Comparison{said("tcp_rr", "rtt_p50", 1, 57.1, nan, nan, Unsure)}},
			"kthread against softirq: no verdict from 1 block (6 are needed); so far tcp_rr p50 +57%."},
		{"no block",
			Report{Partial: true, Planned: 8, Comparisons: []Comparison{said("tcp_rr", "rtt_p50", 0, nan, nan, nan, Unsure)}},
			"Partial, 0 of 8 blocks complete. kthread against softirq: no verdict, no complete block."},
		{"nothing came through",
			Report{Comparisons: []Comparison{
				said("tcp_stream", "goodput", 8, nan, nan, nan, Unsure),
				said("tcp_rr", "rtt_p50", 8, 57.1, 52, 60.2, Worse),
			}},
			"kthread against softirq: tcp_rr p50 +57% (52 to 60), worse; tcp_stream goodput n/a (no figure)."},
		{"two sizes are told one by one, three by their range",
			Report{Comparisons: []Comparison{
				sized(said("udp_rr", "rtt_p50", 8, 40, 35, 45, Worse), 64),
				sized(said("udp_rr", "rtt_p50", 8, 30, 25, 35, Worse), 1024),
				sized(said("tcp_rr", "rtt_p50", 8, 40, 35, 45, Worse), 1),
				sized(said("tcp_rr", "rtt_p50", 8, 12, 10, 14, Worse), 64),
				sized(said("tcp_rr", "rtt_p50", 8, 30, 25, 35, Worse), 65536),
				sized(said("tcp_rr", "rtt_p50", 8, 0, -1, 1, Same), 1<<20),
			}},
			"kthread against softirq: udp_rr 64 p50 +40% (35 to 45), worse; udp_rr 1KiB p50 +30% (25 to 35), worse; " +
				"tcp_rr p50 at 3 sizes +12% to +40%, worse; tcp_rr 1MiB p50 same."},
		{"two levels",
			Report{Comparisons: []Comparison{
				said("tcp_rr", "rtt_p50", 8, 0, -1, 1, Same),
				at(said("tcp_rr", "rtt_p50", 8, 1300, 1200, 1400, Worse), "uthread"),
			}},
			"kthread against softirq: tcp_rr p50 same.\nuthread against softirq: tcp_rr p50 x14.0 (x13.0 to x15.0), worse."},
		{"two factors",
			Report{Factors: []spec.Factor{{Name: "rx"}, {Name: "offload"}}, Comparisons: []Comparison{said("tcp_rr", "rtt_p50", 8, 0, -1, 1, Same)}},
			"rx kthread against softirq: tcp_rr p50 same."},
		{"two factors that interact",
			Report{MarginPct: 2, Factors: []spec.Factor{{Name: "rx"}, {Name: "offload"}},
				Comparisons: []Comparison{said("tcp_rr", "rtt_p50", 8, 57, 52, 60, Worse)},
				Effects: []Comparison{
					both(said("tcp_rr", "rtt_p50", 8, 0, -1, 1, Same)),
					both(said("tcp_stream", "goodput", 8, 30, 20, 40, Better)),
					both(said("udp_stream", "goodput", 8, 30, -20, 80, Unsure)),
				}},
			"rx kthread against softirq: tcp_rr p50 +57% (52 to 60), worse.\n" +
				"rx:offload kthread:on, both changes together: tcp_stream goodput +30% (20 to 40) beyond what each does alone, better; " +
				"they act independently, within 2%, on tcp_rr p50; unsure whether they do on udp_stream goodput (+30% (-20 to 80))."},
		{"a factor whose effect depends on the other",
			Report{MarginPct: 2, Factors: []spec.Factor{{Name: "rx", Levels: []string{"softirq", "kthread"}}, {Name: "offload", Levels: []string{"off", "on"}}},
				Comparisons: []Comparison{said("tcp_rr", "rtt_p50", 8, 57, 52, 60, Worse)},
				Effects:     []Comparison{both(said("tcp_rr", "rtt_p50", 8, 30, 20, 40, Worse))},
				Simple:      []Comparison{under(said("tcp_rr", "rtt_p50", 8, 40, 36, 44, ""), "offload=on"), under(said("tcp_rr", "rtt_p50", 8, 70, 66, 74, ""), "mtu=9000")}},
			"rx kthread against softirq: tcp_rr p50 +57% (52 to 60), worse on the mean over offload.\n" +
				"rx:offload kthread:on, both changes together: tcp_rr p50 +30% (20 to 40) beyond what each does alone, worse.\n" +
				"On tcp_rr p50, rx kthread is +40% (36 to 44) with offload=on."},
		{"an interaction from too few blocks",
			Report{Factors: []spec.Factor{{Name: "rx"}, {Name: "offload"}},
				Comparisons: []Comparison{said("tcp_rr", "rtt_p50", 8, 57, 52, 60, Worse)},
				Effects:     []Comparison{both(said("tcp_rr", "rtt_p50", 5, 30, 20, 40, Unsure))}},
			"rx kthread against softirq: tcp_rr p50 +57% (52 to 60), worse."},
		{"two factors that don't", Report{MarginPct: 2,
			Comparisons: []Comparison{said("tcp_rr", "rtt_p50", 8, 57, 52, 60, Worse)},
			Effects:     []Comparison{both(said("tcp_rr", "rtt_p50", 8, 0, -1, 1, Same))}},
			"kthread against softirq: tcp_rr p50 +57% (52 to 60), worse.\n" +
				"rx:offload kthread:on, both changes together: they act independently, within 2%, on tcp_rr p50."},
		{"a metric without a headline", Report{Comparisons: []Comparison{said("tcp_rr", "rtt_max", 8, 0, -1, 1, Same)}},
			"kthread against softirq: no figures."},
	} {
		if got := strings.Join(c.report.Answer(), "\n"); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestChangeNamesItsUnitInASentence(t *testing.T) {
	c := Comparison{Unit: unit.PerSecond, Scale: Difference, Delta: number(1500), Lo: number(1200), Hi: number(1800)}
	if got, want := c.change(), "+1.50 (1.20 to 1.80) k/s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAnswerOfSeparateRuns(t *testing.T) {
	num := func(v float64) *float64 { return &v }
	run := func(c Comparison, under string, wide bool) Comparison {
		c.Factor, c.Baseline, c.Variant, c.Under, c.P = "run", "old", "new", under, num(0.001)
		if wide {
			c.Spread = &Spread{RunsA: 2, RunsB: 1, BetweenA: num(9), WithinA: num(3)}
		}
		return c
	}
	for _, c := range []struct {
		name string
		rows []Comparison
		want string
	}{
		{"verdicts", []Comparison{
			run(said("tcp_rr", "rtt_p50", 8, 57, 52, 60, Worse), "", false),
			run(said("udp_stream", "goodput", 8, 0, -1, 1, Same), "", false)},
			"new against old: tcp_rr p50 +57% (52 to 60), worse; udp_stream goodput same."},
		{"several variants", []Comparison{
			run(said("tcp_rr", "rtt_p50", 8, 57, 52, 60, Worse), "rx=a", false),
			run(said("tcp_rr", "rtt_p99", 8, 0, -1, 1, Same), "rx=a", false),
			run(said("tcp_rr", "rtt_p50", 8, 0, -1, 1, Same), "rx=b", false),
			run(said("tcp_rr", "rtt_p99", 8, -50, -60, -40, Better), "rx=b", false)},
			"new against old: tcp_rr (rx=a) p50 +57% (52 to 60), worse; tcp_rr (rx=b) p50 same, but p99 -50% (-60 to -40), better."},
		{"many variants", []Comparison{
			run(said("tcp_rr", "rtt_p50", 8, 57, 52, 60, Worse), "rx=a", false),
			run(said("tcp_rr", "rtt_p50", 8, 20, 18, 23, Worse), "rx=b", false),
			run(said("tcp_rr", "rtt_p50", 8, 30, 28, 33, Worse), "rx=c", false)},
			"new against old: tcp_rr p50 in 3 cases +20% to +57%, worse."},
		{"boots that differ", []Comparison{run(said("tcp_rr", "rtt_p50", 8, 57, 52, 60, Worse), "", true)},
			"new against old: tcp_rr p50 +57% (52 to 60), worse.\nRuns of one side differ more than the trials within them: a verdict holds between these runs only."},
		{"boots that differ and no verdict", []Comparison{run(said("tcp_rr", "rtt_p50", 8, 57, -52, 99, Unsure), "", true)},
			"new against old: tcp_rr p50 +57% (-52 to 99), unsure."},
		{"too few", []Comparison{run(said("tcp_rr", "rtt_p50", 3, 57, 52, 60, Unsure), "", false)},
			"new against old: no verdict from 3 trials a side (4 are needed); so far tcp_rr p50 +57% (52 to 60)."},
		{"nothing on one side", []Comparison{run(said("tcp_rr", "rtt_p50", 0, math.NaN(), 0, 0, Unsure), "", false)},
			"new against old: no verdict, no figures on both sides."},
	} {
		r := Report{Pairing: Unpaired, Comparisons: c.rows}
		if got := strings.Join(r.Answer(), "\n"); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}
