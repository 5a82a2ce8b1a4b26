package findings

import (
	"math"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// What can set how much data is under way, as reports name it.
const (
	byCongestion = "cwnd"     // the congestion window
	byReceiver   = "rwnd"     // what the receiver last said that it takes
	bySendBuffer = "sndbuf"   // the sender's socket buffer
	byRecvBuffer = "rcvbuf"   // the receiver's
	byNothing    = "not read" // TCP_INFO was not read
)

// spelled is each of them in a sentence.
var spelled = map[string]string{
	byCongestion: "the congestion window",
	byReceiver:   "the receiver's window",
	bySendBuffer: "the send buffer",
	byRecvBuffer: "the receive buffer",
}

// underWay is what a TCP stream's two ends tell of the data under way in one trial.
// What is not known is NaN.
type underWay struct {
	// window is the most bytes that could be under way, of all flows, and by what
	// set that.
	window float64
	by     string
	// rtt is the sender's smoothed round trip at the end of the window, and least
	// the shortest that it saw, in ns (tcpi_rtt, tcpi_min_rtt of linux/tcp.h).
	rtt, least float64
	// rwnd and sndbuf are the shares of the time with data to send in which the
	// receiver's window or the send buffer had no room (tcpi_rwnd_limited and
	// tcpi_sndbuf_limited over tcpi_busy_time).
	rwnd, sndbuf float64
	why          string // why there is no window
}

// underWayIn reads a trial of a stream that goes one way.
func underWayIn(t *result.Trial) underWay {
	u := underWay{window: math.NaN(), by: byNothing, rtt: math.NaN(), least: math.NaN(), rwnd: math.NaN(), sndbuf: math.NaN()}
	sender, receiver := &t.Local, t.Remote
	if t.Test.Kind().Pattern == spec.Reverse {
		sender, receiver = receiver, sender
	}
	if sender == nil {
		u.why = "no sender"
		return u
	}
	info := sender.Counters.Reading(result.SourceTCPInfo)
	if info == nil {
		u.why = "TCP_INFO was not read"
		if _, reason := sender.Counters.Asked(result.SourceTCPInfo); reason != "" {
			u.why = "TCP_INFO: " + reason
		}
		return u
	}
	u.rtt, u.least = positive(info, "rtt_ns"), positive(info, "min_rtt_ns")
	if busy := info.Counts["busy_ns"]; busy > 0 {
		u.rwnd = float64(info.Counts["rwnd_limited_ns"]) / float64(busy)
		u.sndbuf = float64(info.Counts["sndbuf_limited_ns"]) / float64(busy)
	}
	var receive *result.Reading
	if receiver != nil {
		receive = receiver.Counters.Reading(result.SourceSockets)
	}
	// Of a socket's buffer the kernel keeps part for itself, so these two are the
	// most that it can hold.
	for _, limit := range []struct {
		by    string
		bytes float64
	}{
		{byReceiver, positive(info, "snd_wnd")},
		{bySendBuffer, positive(sender.Counters.Reading(result.SourceSockets), "sndbuf")},
		{byRecvBuffer, positive(receive, "rcvbuf")},
		{byCongestion, positive(info, "cwnd") * positive(info, "mss")},
	} {
		if finite(limit.bytes) && !(u.window <= limit.bytes) {
			u.window, u.by = limit.bytes, limit.by
		}
	}
	switch {
	case !finite(u.window):
		u.why = "TCP_INFO has no window"
	case !finite(u.rtt):
		u.why = "TCP_INFO has no round trip"
	}
	if flows := positive(info, "flows"); flows > 1 {
		u.window *= flows // levels are of the flow in the middle
	}
	return u
}

// positive is a level of a reading; NaN where that has none, or none above zero.
func positive(r *result.Reading, name string) float64 {
	if r == nil || r.Levels[name] <= 0 {
		return math.NaN()
	}
	return float64(r.Levels[name])
}

// most is the goodput in bit/s that the window allows over a round trip in ns.
func most(window, rtt float64) float64 { return 8 * window / (rtt / 1e9) }

// product is the bytes that are under way at a goodput in bit/s over a round trip
// in ns.
func product(goodput, rtt float64) float64 { return goodput / 8 * (rtt / 1e9) }
