package result

import "netdelta/internal/spec"

// Thresholds of the guards about the test's own flows.
const (
	limitedFrom = 0.5 // of the time that there was data to send
	copiedFrom  = 0.1 // of the sends without copying
)

var flowGuards = []guard{
	{GuardReceiverLimited, "let the receiver take more (rcvbuf=, net.ipv4.tcp_rmem) or read faster (recv=, threads=): the path could carry more", receiverLimited},
	{GuardSndbufLimited, "let the sender have more under way (sndbuf=, net.ipv4.tcp_wmem): the path could carry more", sndbufLimited},
	{GuardZeroCopied, "take an interface that reads the pages itself (veth and loopback never do), or count the test as one that copies", zeroCopied},
}

// sendsStream says that the end sends the test's stream.
func (t *Trial) sendsStream(e *End) bool {
	k := t.Test.Kind()
	return e.Role == Local && k.Sends() || e.Role == Remote && k.Receives()
}

// limited is the share of the time that an end's connections had data to send
// in which something kept them from sending it (tcpi_rwnd_limited,
// tcpi_sndbuf_limited and tcpi_busy_time of linux/tcp.h).
func limited(t *Trial, e *End, by string) float64 {
	if t.Test.Kind().Protocol != spec.TCP || !t.sendsStream(e) || t.keptRate() {
		return 0
	}
	r := e.Counters.Reading(SourceTCPInfo)
	return ratio(float64(r.rose(by)), float64(r.rose("busy_ns")))
}

func receiverLimited(t *Trial, e *End) *finding {
	part := limited(t, e, "rwnd_limited_ns")
	if part <= limitedFrom {
		return nil
	}
	return found("connections waited for room in the receiver's window for %s of the time that they had data", inPercent(part))
}

func sndbufLimited(t *Trial, e *End) *finding {
	part := limited(t, e, "sndbuf_limited_ns")
	if part <= limitedFrom {
		return nil
	}
	return found("connections were kept back by the send buffer for %s of the time that they had data", inPercent(part))
}

func zeroCopied(_ *Trial, e *End) *finding {
	part := ratio(float64(e.Counts[CountZeroCopied]), float64(e.Counts[CountZeroCopy]))
	if part <= copiedFrom {
		return nil
	}
	return found("the kernel copied %s of what was to be sent without copying", inPercent(part))
}
