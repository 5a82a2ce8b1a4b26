package calibrate

import (
	"fmt"
	"math"
	"time"
)

// candidate is one window's floor of a figure.
type candidate struct {
	w  *Window
	fl *Floor
}

// bests is the best window of each headline figure, in the order in which the
// windows have them.
func bests(windows []Window, forNS int64) []Best {
	type key struct {
		test, metric, end string
	}
	var order []key
	of := map[key][]candidate{}
	for i := range windows {
		for j := range windows[i].Floors {
			fl := &windows[i].Floors[j]
			if fl.HalfWidthPct == nil {
				continue
			}
			k := key{fl.Of().String(), fl.Metric, fl.End}
			if of[k] == nil {
				order = append(order, k)
			}
			of[k] = append(of[k], candidate{&windows[i], fl})
		}
	}
	var all []Best
	for _, k := range order {
		all = append(all, best(of[k], forNS))
	}
	return all
}

// best picks among one figure's windows, from short to long.
func best(c []candidate, forNS int64) Best {
	at := 0
	for i := range c {
		if *c[i].fl.HalfWidthPct < *c[at].fl.HalfWidthPct {
			at = i
		}
	}
	b := Best{Test: c[at].fl.Test, Params: c[at].fl.Params, Metric: c[at].fl.Metric, WindowNS: c[at].w.WindowNS, ForNS: forNS, Limit: Untold}
	if len(c) == 1 {
		b.Why = "no other window has enough blocks to be compared with"
		return b
	}
	b.Sure = true
	for i := range c {
		b.Sure = b.Sure && (i == at || apart(c[at], c[i]))
	}
	b.Limit, b.Why = limit(c, at)
	return b
}

// apart says that two windows' half-widths differ by more than twice the standard
// error of their ratio's logarithm, which is that of two standard deviations.
func apart(a, b candidate) bool {
	ratio := math.Log(logOf(*b.fl.HalfWidthPct) / logOf(*a.fl.HalfWidthPct))
	return ratio > 2*math.Sqrt(spreadError(a)+spreadError(b))
}

// spreadError is the variance of the logarithm of a standard deviation.
func spreadError(c candidate) float64 { return 1 / (2 * float64(c.fl.N-1)) }

// limit says what bounds the precision at the best window. A trial of twice the
// length has, where nothing drifts, differences of half the variance: what it
// falls short of that is drift, or else what each trial has of its own whatever its
// length, as a link that is made anew. The two can't be told apart by that.
func limit(c []candidate, at int) (Limit, string) {
	longest := len(c) - 1
	w := c[at].w
	share := 0.0 // of the time that nothing is measured
	if w.OverheadNS != nil {
		share = float64(*w.OverheadNS) / float64(*w.OverheadNS+w.WindowNS)
	}
	overhead := fmt.Sprintf("%.0f%% of the time is overhead", 100*share)
	from, to := c[0], c[longest]
	got := math.Log(logOf(*from.fl.NoisePct) / logOf(*to.fl.NoisePct))
	white := math.Log(float64(to.w.WindowNS)/float64(from.w.WindowNS)) / 2
	se := math.Sqrt(spreadError(from) + spreadError(to))
	length := fmt.Sprintf("%v has %.2g%% of noise and %v %.2g%%", time.Duration(to.w.WindowNS), *to.fl.NoisePct, time.Duration(from.w.WindowNS), *from.fl.NoisePct)
	switch {
	case !(*from.fl.NoisePct > 0 && *to.fl.NoisePct > 0):
		return Untold, "there was no noise"
	case got < white-2*se:
		return ByDrift, fmt.Sprintf("longer windows are steadier by less than their length: %s; the rest is slow drift, or differs from trial to trial however long they are", length)
	case share > 1.0/3:
		return ByOverhead, fmt.Sprintf("noise falls with the length as it should (%s), and %s even so", length, overhead)
	}
	return ByNoise, fmt.Sprintf("noise falls with the length as it should (%s), and %s: only more time helps", length, overhead)
}
