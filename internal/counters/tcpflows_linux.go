package counters

import (
	"errors"
	"slices"
	"strconv"
)

// tcpFlows are the flows as they were when one sample was taken.
type tcpFlows struct {
	of    *tcpInfo
	flows []*tcpFlow
	read  []tcpReading // by place in flows
}

// tcpReading is what a flow told.
type tcpReading struct {
	counts []int64 // by place in tcpCounts
	levels []int64 // by place in tcpLevels; unset ones are negative
}

// parse is for when the test is over and its sockets are still there. One that
// never had a connection has nothing to tell.
func (a *tcpFlows) parse(x *sample) error {
	if len(a.of.flows) == 0 {
		return errors.New("the test has no TCP connection that lasts as long as itself")
	}
	for _, f := range tcpCounts {
		if f.in(a.of.filled) {
			x.counts[f.name] = 0
		}
	}
	levels := make([][]int64, len(tcpLevels))
	x.levels["flows"] = 0
	for n, f := range a.flows {
		if f.gone = f.gone || !still(f.fd, f.cookie); f.gone {
			x.levels["gone"]++
			continue
		}
		r := &a.read[n]
		x.levels["flows"]++
		for i, v := range r.counts {
			if c := &tcpCounts[i]; c.in(a.of.filled) {
				x.counts[c.name] += v
			}
		}
		for i, v := range r.levels {
			if v >= 0 {
				levels[i] = append(levels[i], v)
			}
		}
		if n < maxFlows {
			a.single(n, x)
		}
	}
	for i, values := range levels {
		if len(values) == 0 {
			continue
		}
		name := tcpLevels[i].name
		slices.Sort(values)
		x.levels[name] = median(values)
		if name == "rtt_ns" {
			x.levels["rtt_max_ns"] = values[len(values)-1]
		}
	}
	return nil
}

// single tells of one flow.
func (a *tcpFlows) single(n int, x *sample) {
	prefix := "flow" + strconv.Itoa(n) + "."
	for i := range tcpCounts {
		if f := &tcpCounts[i]; f.flow && f.in(a.of.filled) {
			x.counts[prefix+f.name] = a.read[n].counts[i]
		}
	}
	for i := range tcpLevels {
		if f := &tcpLevels[i]; f.flow && a.read[n].levels[i] >= 0 {
			x.levels[prefix+f.name] = a.read[n].levels[i]
		}
	}
}

// median is the one in the middle of sorted values, of two the lower one, so
// that it is one of them.
func median(sorted []int64) int64 { return sorted[(len(sorted)-1)/2] }
