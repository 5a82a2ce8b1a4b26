package findings

import (
	"slices"
	"strings"
	"testing"
	"time"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stats"
)

// contexts are round trips of a level of rx each, with wake tests beside.
func contexts(t *testing.T, beside map[string]time.Duration, rounds map[string]time.Duration, levels ...string) world {
	var tests []string
	for name := range beside {
		tests = append(tests, name)
	}
	return world{planOf(t, "udp_rr", strings.Join(tests, ","), spec.Factor{Name: "rx", Levels: levels}),
		func(x *result.Trial, v spec.Variant, wiggle float64) {
			if x.Test.Name == "wake" {
				rtt(x, beside[x.Test.String()], wiggle)
				return
			}
			rtt(x, rounds[v["rx"]], wiggle)
		}}
}

const (
	futexOther = "wake by=futex at=other"
	futexSame  = "wake by=futex at=same"
)

func TestWakeShare(t *testing.T) {
	rounds := map[string]time.Duration{"softirq": 20 * time.Microsecond, "inline": 19 * time.Microsecond,
		"kthread": 36100 * time.Nanosecond, "uthread": 33 * time.Microsecond, "kthread-again": 20 * time.Microsecond}
	one := map[string]time.Duration{futexOther: 9600 * time.Nanosecond}
	both := map[string]time.Duration{futexOther: 9600 * time.Nanosecond, futexSame: 4 * time.Microsecond, "wake by=pipe at=other": 12 * time.Microsecond}
	for _, c := range []struct {
		name   string
		beside map[string]time.Duration
		levels []string
		want   []string
	}{
		{"one place", one, []string{"softirq", "kthread"}, []string{
			"kthread against softirq: two wake-ups of a thread more in a round trip (the kernel's NAPI thread at either end); udp_rr p50 +16.1 us (16.1 to 16.1); " +
				"by the test beside two cost 9.60 us (9.58 to 9.62) by futex on another CPU, 60% of it (59 to 60); the rest, 6.50 us, is not told apart."}},
		{"either place", both, []string{"softirq", "uthread"}, []string{
			"uthread against softirq: two wake-ups of a thread more in a round trip (the wire's second thread at either end); udp_rr p50 +13.0 us (13.0 to 13.0); " +
				"by the test beside two cost 4.00 us (3.99 to 4.01) by futex on the same CPU and 9.60 us (9.58 to 9.62) on another CPU, " +
				"31% to 74% of it (31 to 74) as the scheduler places the thread; the rest, 3.40 us or more, is not told apart."}},
		{"the thread is the baseline", one, []string{"kthread", "softirq"}, []string{
			"softirq against kthread: two wake-ups of a thread less in a round trip"}},
		{"neither has one", one, []string{"softirq", "inline"}, nil},
		{"both have one", one, []string{"kthread", "uthread"}, nil},
		{"nothing beside", nil, []string{"softirq", "kthread"}, []string{
			"kthread against softirq: two wake-ups of a thread more in a round trip (the kernel's NAPI thread at either end); udp_rr p50 +16.1 us (16.1 to 16.1); what a wake-up costs here was not measured."}},
		{"no difference", one, []string{"softirq", "kthread-again"}, []string{"of a difference that is not sure."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := contexts(t, c.beside, rounds, c.levels...).look(t, Wake)
			if len(r.Findings) != len(c.want) {
				t.Fatalf("%q", r.Findings)
			}
			for i, want := range c.want {
				if !strings.Contains(r.Findings[i], want) {
					t.Errorf("found\n%s\nwant\n%s", r.Findings[i], want)
				}
			}
			if len(c.beside) == 0 {
				if len(r.Sections) != 0 {
					t.Errorf("%+v", r.Sections)
				}
				return
			}
			s := section(t, r, "wake")
			two, one := cell(t, s, "futex, another CPU, idle", "there and back p50"), cell(t, s, "futex, another CPU, idle", "one wake-up")
			if !near2(two.Value, 9600) || !near2(one.Value, 4800) || len(s.Rows) != len(c.beside) {
				t.Errorf("%v %v, %d rows", deref(two.Value), deref(one.Value), len(s.Rows))
			}
		})
	}
}

func TestWakeShareOfWhat(t *testing.T) {
	udp := testOf(t, "udp_rr")
	ten := []woken{{"futex", "the same CPU", stats.Interval{Est: 10e3, Lo: 9e3, Hi: 11e3}}}
	for _, c := range []struct {
		d    stats.Interval
		want string
	}{
		{stats.Interval{Est: 20e3, Lo: 18e3, Hi: 22e3}, "50% of it (41 to 61); the rest, 10.0 us, is not told apart."},
		{stats.Interval{Est: 11e3, Lo: 10e3, Hi: 12e3}, "91% of it (75 to 110)."},
		{stats.Interval{Est: 5e3, Lo: 4e3, Hi: 6e3}, "200% of it (150 to 275); they come cheaper there than in the test."},
		{stats.Interval{Est: 5e3, Lo: -1e3, Hi: 9e3}, "no share is told of a difference that is not sure."},
		{stats.Interval{Est: -5e3, Lo: -6e3, Hi: -4e3}, "no share is told of a difference that is not sure."},
	} {
		if got := wakeShare(udp, "more", c.d, true, ten); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// The test that resembles a handler's thread most, where its place is known.
func TestWakeCost(t *testing.T) {
	var all []compare.Beside
	for i, text := range []string{"wake by=pipe at=same", "wake at=same busy=loaded", "wake", "wake at=other", "wake at=same"} {
		test := testOf(t, text)
		v := float64(10 - i)
		all = append(all, compare.Beside{Test: test.Name, Params: test.Params, Metric: result.RTTP50, Summary: compare.Summary{Median: &v}})
	}
	for n, want := range map[int][]float64{5: {6, 7}, 4: {7}, 3: {8}, 2: {10}, 0: nil} {
		var got []float64
		for _, w := range wakeCost(all[:n]) {
			got = append(got, w.Est)
		}
		if !slices.Equal(got, want) {
			t.Errorf("of %d: %v, want %v", n, got, want)
		}
	}
}
