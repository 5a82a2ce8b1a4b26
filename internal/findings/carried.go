package findings

import (
	"math"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stats"
)

// near is how close to what its window allows a stream counts as held by it. The
// window is read at the window's end and the round trip is a mean over its last
// acknowledgements, while goodput is of the whole window; and acknowledgements that
// are held back (RFC 9293, 3.8.6.3) leave up to a quarter of a full window unused.
const near = 0.75

// carried is what TCP had under way in one variant, or as the mean of several.
type carried struct {
	window, rtt, most, reached stats.Interval // B, ns, bit/s, bit/s
	// alone is the round trip in ns without the stream: that of the plan's small
	// round trips, and where it has none the shortest that the stream saw.
	alone        stats.Interval
	by           string // what most often set the window
	rwnd, sndbuf float64
	why          string // why there is no window, or no round trip
}

// carriedBy looks at a stream under some variants.
func (in *Input) carriedBy(test spec.Test, variants []spec.Variant) carried {
	var c carried
	var window, rtt, least, allowed, reached, alone, rwnd, sndbuf [][]float64
	by, why := map[string]int{}, map[string]int{}
	short, timed := in.shortTest()
	for _, v := range variants {
		of := make([]underWay, 0, in.Plan.Blocks)
		for _, t := range in.trials(test, v) {
			u := underWay{window: math.NaN(), rtt: math.NaN(), least: math.NaN(), rwnd: math.NaN(), sndbuf: math.NaN()}
			if t != nil {
				u = underWayIn(t)
				why[u.why]++
				if finite(u.window) {
					by[u.by]++
				}
			}
			of = append(of, u)
		}
		column := func(f func(u underWay) float64) []float64 {
			x := make([]float64, len(of))
			for i, u := range of {
				x[i] = f(u)
			}
			return x
		}
		window = append(window, column(func(u underWay) float64 { return u.window }))
		rtt = append(rtt, column(func(u underWay) float64 { return u.rtt }))
		least = append(least, column(func(u underWay) float64 { return u.least }))
		allowed = append(allowed, column(func(u underWay) float64 { return most(u.window, u.rtt) }))
		rwnd = append(rwnd, column(func(u underWay) float64 { return u.rwnd }))
		sndbuf = append(sndbuf, column(func(u underWay) float64 { return u.sndbuf }))
		reached = append(reached, in.figures(test, v, goodputOf(test)))
		if timed {
			alone = append(alone, in.figures(short, v, rttP50))
		}
	}
	c.window, c.rtt, c.most, c.reached = in.median(mean(window...)), in.median(mean(rtt...)), in.median(mean(allowed...)), in.median(mean(reached...))
	c.rwnd, c.sndbuf = stats.Median(mean(rwnd...)), stats.Median(mean(sndbuf...))
	if c.alone = in.median(mean(alone...)); !finite(c.alone.Est) {
		c.alone = in.median(mean(least...))
	}
	c.by, c.why = oftenest(by), oftenest(why)
	return c
}

// known says that there is a window and a round trip to speak of.
func (c *carried) known() bool { return finite(c.most.Est) && finite(c.reached.Est) }

// full says that goodput is what the window allows over the round trip.
func (c *carried) full() bool { return c.reached.Est >= near*c.most.Est }

// short says that the window would be too small for the goodput even over the round
// trip that the path has by itself: what a stream waits for in its own queue makes its
// round trip longer without holding it.
func (c *carried) short() bool {
	return c.full() && c.reached.Est >= near*most(c.window.Est, c.alone.Est)
}

// heldBy is that in a word.
func (c *carried) heldBy() string {
	switch {
	case !c.known() || !finite(c.alone.Est):
		return "not known"
	case c.short():
		return "window"
	case c.full():
		return "path"
	}
	return "other"
}

// kept is what kept the sender for more than half of the time that it had data, in
// words; empty for nothing.
func (c *carried) kept() string {
	switch {
	case c.rwnd > 0.5:
		return "the sender waited for the receiver's window for " + share(c.rwnd) + " of its time"
	case c.sndbuf > 0.5:
		return "the sender was kept back by its buffer for " + share(c.sndbuf) + " of its time"
	}
	return ""
}

var rttP50 = result.Taken{Name: result.RTTP50, End: result.Local}

// goodputOf is the figure that stands for a stream.
func goodputOf(test spec.Test) result.Taken {
	if test.Kind().Pattern == spec.Reverse {
		return result.Taken{Name: result.Goodput, End: result.Local}
	}
	return result.Taken{Name: result.Goodput, End: result.Remote}
}

// smallest is the most bytes of a round trip that tells the path's latency rather
// than how long its bytes take: one packet.
const smallest = 1400

// shortTest is the plan's test that tells the round trip best: one small packet there
// and one back, with nothing beside it.
func (in *Input) shortTest() (spec.Test, bool) {
	for _, name := range []string{"udp_rr", "tcp_rr", "icmp_echo"} {
		for _, t := range in.Plan.Tests {
			if t.Name == name && lone(t) {
				return t, true
			}
		}
	}
	return spec.Test{}, false
}

// lone says that a test's round trips are of one small packet there and one back,
// with nothing beside them.
func lone(t spec.Test) bool {
	p := &t.Params
	return max(p.Size, p.Request, p.Response) <= smallest && p.Load == "" && p.Burst <= 1 && p.Flows <= 1
}

// oftenest is the key with the highest count, the first of those by name.
func oftenest(counts map[string]int) string {
	best := ""
	for k, n := range counts {
		if n > counts[best] || n == counts[best] && k < best {
			best = k
		}
	}
	return best
}
