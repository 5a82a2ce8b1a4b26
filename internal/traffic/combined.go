package traffic

import (
	"slices"
	"time"

	"netdelta/internal/hist"
	"netdelta/internal/result"
)

// combined is what several threads of one end counted, as one end. Each had a
// window of its own, of almost the same length: messages, bytes and counts are
// added up, and the length is such that the rate is the sum of the threads'. A
// receiver's window that ended early, with its traffic, is as long as the
// longest for that: the few messages of a moment are no rate.
func combined(ends []result.End) result.End {
	all := ends[0]
	if len(ends) == 1 {
		return all
	}
	all.Counts = map[string]int64{}
	all.Messages, all.Bytes, all.Warnings = 0, 0, nil
	all.RTT = nil
	var rate, longest float64 // of messages, per ns
	for _, e := range ends {
		all.Messages += e.Messages
		all.Bytes += e.Bytes
		for name, n := range e.Counts {
			all.Counts[name] += n
		}
		if e.RTT != nil {
			if all.RTT == nil {
				all.RTT = hist.New()
			}
			all.RTT.Merge(e.RTT)
		}
		for _, w := range e.Warnings {
			if !slices.Contains(all.Warnings, w) {
				all.Warnings = append(all.Warnings, w)
			}
		}
		longest = max(longest, float64(e.Elapsed))
	}
	for _, e := range ends {
		over := float64(e.Elapsed)
		if over < 0.9*longest {
			over = longest
		}
		if over > 0 {
			rate += float64(e.Messages) / over
		}
	}
	all.Elapsed = time.Duration(longest)
	if rate > 0 {
		all.Elapsed = time.Duration(float64(all.Messages) / rate)
	}
	all.Intervals = combinedIntervals(ends)
	return all
}

// combinedIntervals adds the threads' intervals up, place by place. Quantiles
// of several threads cannot be had from each one's, so that only the longest
// round trip is kept. Where the threads have different numbers of intervals
// the last ones are left out.
func combinedIntervals(ends []result.End) []result.Interval {
	n := len(ends[0].Intervals)
	for _, e := range ends {
		n = min(n, len(e.Intervals))
	}
	all := slices.Clone(ends[0].Intervals[:n])
	for i := range all {
		all[i].RTT = result.RTT{Max: all[i].RTT.Max}
		for _, e := range ends[1:] {
			all[i].Messages += e.Intervals[i].Messages
			all[i].Bytes += e.Intervals[i].Bytes
			all[i].RTT.Max = max(all[i].RTT.Max, e.Intervals[i].RTT.Max)
		}
	}
	return all
}
