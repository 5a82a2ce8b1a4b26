package compare

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"netdelta/internal/result"
	"netdelta/internal/stats"
	"netdelta/internal/unit"
)

// windowBound says where a stream can't have been as fast as it was with the baseline,
// since what may be under way at once, over the variant's round trip, is less: then
// throughput follows from the latency.
func windowBound(m *match, all []*match, names [2]string) []string {
	size := socketSize(m)
	trip := func(side int) float64 { return roundTrip(all, side) }
	if size == 0 || strings.Contains(strings.ToLower(m.test.Name), "udp") {
		return nil
	}
	var said []string
	for _, d := range importedOf(m.trials(0)) {
		if d.Name != result.Goodput && d.Name != result.Throughput {
			continue
		}
		rates := [2]float64{stats.Median(figuresOf(m.trials(0), d.Taken())), stats.Median(figuresOf(m.trials(1), d.Taken()))}
		for slow := range rates {
			rtt := trip(slow)
			bound := 8 * size / (rtt / 1e9)
			if !(rates[slow] <= bound && bound < rates[1-slow]) {
				continue
			}
			said = append(said, fmt.Sprintf("With %s a window of %.0f B can't pass more than %s (%.3g MiB/s) at a round trip of %s, and %s had %s: %s follows from the latency at least in part.",
				names[slow], size, unit.Format(bound, unit.BitsPerSecond), bound/8/(1<<20), unit.Format(rtt, unit.Nanoseconds),
				names[1-slow], unit.Format(rates[1-slow], d.Unit), baseOf(m.test)))
		}
	}
	return said
}

// roundTrip is the mean round trip of a side by whatever test tells it, in ns; NaN
// where none does.
func roundTrip(all []*match, side int) float64 {
	for _, m := range all {
		for _, c := range m.trials(side) {
			for _, f := range c.posted.Figures {
				switch f.Metric {
				case result.RTTMean:
					return f.Value
				case result.HalfRTTMean:
					return 2 * f.Value
				}
			}
		}
	}
	return stats.Median(nil)
}

var plainBytes = regexp.MustCompile(`^([0-9]+)( ?B)?$`)

// socketSize is the least of the socket sizes that all trials of a test name alike, in
// bytes; 0 where they name none, or several.
func socketSize(m *match) float64 {
	least := 0.0
	for i, c := range append(m.trials(0), m.trials(1)...) {
		size := 0.0
		for _, f := range slices.Concat(c.posted.Params, c.posted.Facts) {
			name := strings.ToLower(f.Name)
			if !strings.Contains(name, "sock") && !strings.Contains(name, "sndbuf") && !strings.Contains(name, "rcvbuf") {
				continue
			}
			if n := plainBytes.FindStringSubmatch(strings.TrimSpace(f.Value)); n != nil {
				if v, err := strconv.ParseFloat(n[1], 64); err == nil && v > 0 && (size == 0 || v < size) {
					size = v
				}
			}
		}
		if i > 0 && size != least {
			return 0
		}
		least = size
	}
	return least
}
