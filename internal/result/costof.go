package result

import (
	"fmt"
	"strings"

	"netdelta/internal/spec"
)

// reading is what a source counted around an end's window, or the reason why
// there is nothing of it.
func (e *End) reading(source string) (*Reading, *Warning) {
	if e == nil {
		return nil, &Warning{Code: NotAsked, Text: "the remote end gave no figures"}
	}
	if r := e.Counters.Reading(source); r != nil {
		if r.Elapsed <= 0 {
			return nil, &Warning{Code: "no-window", Text: fmt.Sprintf("the %s end read %s for no time at all", e.Role, source)}
		}
		return r, nil
	}
	if asked, why := e.Counters.Asked(source); asked {
		return nil, &Warning{Code: NotCounted, Text: fmt.Sprintf("the %s end could not read %s: %s", e.Role, source, why)}
	}
	return nil, &Warning{Code: NotAsked, Text: fmt.Sprintf("the %s end was not asked to read %s", e.Role, source)}
}

// shared is why an end has no figures of its own.
func (e *End) shared() *Warning {
	return &Warning{Code: "one-machine", Text: "both ends share this machine's CPUs, and what it did is in the local end's figure",
		Advice: fmt.Sprintf("bind each end to a CPU of its own (--cpu-local, --cpu-remote) to tell the %s end's part", e.Role)}
}

// rate is how often per second the end's host counted what has these names.
// Where both ends are on one machine it is what was counted on the end's CPUs;
// of what is not told by CPU the local end has all.
func rate(end whichEnd, source string, names ...string) derivation {
	return func(t *Trial) (float64, *Warning) {
		e := end(t)
		r, why := e.reading(source)
		if why != nil {
			return 0, why
		}
		sum := 0.0
		for _, name := range names {
			n, why := e.own(r, name)
			if why != nil {
				return 0, why
			}
			sum += n
		}
		return sum / r.Elapsed.Seconds(), nil
	}
}

// own is the part of a count that is the end's.
func (e *End) own(r *Reading, name string) (float64, *Warning) {
	c := e.Counters
	if c.Shared {
		return 0, e.shared()
	}
	byCPU, everywhere := false, 0.0
	for counted, n := range r.Counts {
		if of, _, ok := strings.Cut(counted, "@"); ok && of == name {
			byCPU = true
			everywhere += float64(n)
		}
	}
	total, there := r.Counts[name]
	switch {
	case c.OneMachine && byCPU:
		sum := 0.0
		for _, cpu := range c.CPUs {
			sum += float64(r.Counts[fmt.Sprintf("%s@%d", name, cpu)])
		}
		return sum, nil
	case c.OneMachine && e.Role == Remote && total > 0:
		return 0, &Warning{Code: "one-machine", Text: fmt.Sprintf("both ends are on this machine, and %s is not counted by CPU: all of it is in the local end's figure", name)}
	case there:
		return float64(total), nil
	}
	return everywhere, nil
}

// cycles is CPU cycles per second of the end's host.
func cycles(end whichEnd) derivation {
	all := rate(end, SourceCycles, "cycles")
	return func(t *Trial) (float64, *Warning) {
		n, why := all(t)
		if why == nil {
			why = t.loopsBeside()
		}
		return n, why
	}
}

// per is one rate over another.
func per(what, each derivation) derivation {
	return func(t *Trial) (float64, *Warning) {
		n, why := what(t)
		if why != nil {
			return 0, why
		}
		of, why := each(t)
		if why != nil {
			return 0, why
		}
		return n / of, nil
	}
}

// ops is round trips per second, never 0.
func ops(t *Trial) (float64, *Warning) {
	n, why := perSecond(localEnd, messages)(t)
	if why == nil && n == 0 {
		why = &Warning{Code: "no-samples", Advice: longer, Text: "no round trip was completed within the window"}
	}
	return n, why
}

// receiver is the end that gets a stream; of one each way the local one.
func receiver(t *Trial) *End {
	if t.Test.Kind().Receives() {
		return receiving(localEnd)(t)
	}
	return receiving(remoteEnd)(t)
}

// payload is bytes per second that receivers got, never 0: of a stream each way
// both together, so that an end's cost is that of all it does.
func payload(t *Trial) (float64, *Warning) {
	bits, why := perSecond(receiver, sent)(t)
	if why == nil && t.Test.Kind().Pattern == spec.Duplex {
		var more float64
		more, why = perSecond(receiving(remoteEnd), sent)(t)
		bits += more
	}
	if why == nil && bits == 0 {
		why = &Warning{Code: "nothing-received", Text: "nothing was received within the window"}
	}
	return bits / 8, why
}

// perPacket is a rate over that of the packets of the end's interface, both
// directions together.
func perPacket(end whichEnd, what derivation) derivation {
	return per(what, interfacePackets(end))
}

// interfacePackets is the packets of the end's interface per second, both
// directions together, never 0.
func interfacePackets(end whichEnd) derivation {
	return func(t *Trial) (float64, *Warning) {
		r, why := end(t).reading(SourceDevice)
		if why != nil {
			return 0, why
		}
		n := float64(r.Counts["rx_packets"]) + float64(r.Counts["tx_packets"])
		if n == 0 {
			return 0, noPackets(end(t))
		}
		return n / r.Elapsed.Seconds(), nil
	}
}

func noPackets(e *End) *Warning {
	return &Warning{Code: "no-packets", Text: fmt.Sprintf("the %s end's interface counted no packets", e.Role),
		Advice: "see whether the path goes by another interface"}
}

// interrupts is the interrupts of the end's interface for each of its packets. In
// a lab's wire its handler runs stand for them, each of which hands over all the
// frames that it has for the end, or its wake-ups where it does not tell of runs.
func interrupts(end whichEnd) derivation {
	lines := per(interruptLines(end), interfacePackets(end))
	return func(t *Trial) (float64, *Warning) {
		if n, ok := handlerRuns(end(t), t); ok {
			return n, nil
		}
		return lines(t)
	}
}

// interruptRate is the same per second.
func interruptRate(end whichEnd) derivation {
	lines := interruptLines(end)
	return func(t *Trial) (float64, *Warning) {
		if n, ok := handlerRuns(end(t), t); ok {
			packets, why := packetRate(end)(t)
			return n * packets, why
		}
		return lines(t)
	}
}

// handlerRuns is the runs of a lab's wire for each frame that it brought to the
// end, over the whole trial.
func handlerRuns(e *End, t *Trial) (float64, bool) {
	if e == nil {
		return 0, false
	}
	toward := map[string]string{Local: "wire.b_to_a.", Remote: "wire.a_to_b."}[e.Role]
	frames, of := t.Path.Counts[toward+"frames_out"], "runs"
	if t.Path.Counts[toward+of] == 0 {
		frames, of = t.Path.Counts[toward+"frames_in"], "wakeups"
	}
	if frames <= 0 {
		return 0, false
	}
	return float64(t.Path.Counts[toward+of]) / float64(frames), true
}

// interruptLines is the interrupts of the interface's own lines per second.
func interruptLines(end whichEnd) derivation {
	return func(t *Trial) (float64, *Warning) {
		e := end(t)
		r, why := e.reading(SourceInterrupts)
		if why != nil {
			return 0, why
		}
		if r.Levels["device_lines"] == 0 {
			device := e.Counters.Device
			if device == "" {
				device = "interface"
			}
			return 0, &Warning{Code: "no-interrupts", Text: fmt.Sprintf("the %s end's %s has no interrupt lines of its own", e.Role, device)}
		}
		return float64(r.Counts["device"]) / r.Elapsed.Seconds(), nil
	}
}

// bytesPerPacket is what the packets that an end's interface received had in
// them, headers included.
func bytesPerPacket(end whichEnd) derivation {
	return ofReading(end, SourceDevice, "rx_bytes", "rx_packets", noPackets)
}

// bytesPerSegment is the payload of the segments that an end's connections sent.
// The sender knows how many those are, however many go to its interface as one;
// a receiver behind a TAP or virtio-net takes what comes as one for one segment
// (tcp_segs_in of include/net/tcp.h, with no gso_segs).
func bytesPerSegment(end whichEnd) derivation {
	return ofReading(end, SourceTCPInfo, "bytes_sent", "data_segs_out", func(e *End) *Warning {
		return &Warning{Code: NotCounted, Text: fmt.Sprintf("the %s end's connections counted no segments", e.Role)}
	})
}

// ofReading is one count of a reading for each of another.
func ofReading(end whichEnd, source, what, each string, none func(*End) *Warning) derivation {
	return func(t *Trial) (float64, *Warning) {
		r, why := end(t).reading(source)
		if why != nil {
			return 0, why
		}
		if r.Counts[each] == 0 {
			return 0, none(end(t))
		}
		return float64(r.Counts[what]) / float64(r.Counts[each]), nil
	}
}

func packetRate(end whichEnd) derivation {
	return func(t *Trial) (float64, *Warning) {
		r, why := end(t).reading(SourceDevice)
		if why != nil {
			return 0, why
		}
		return float64(r.Counts["rx_packets"]) / r.Elapsed.Seconds(), nil
	}
}

// threadTime is CPU seconds per second of an end's own threads, but for those that
// read counters and soak up CPU time (schedstat; proc(5)).
func threadTime(end whichEnd) derivation {
	return func(t *Trial) (float64, *Warning) {
		r, why := end(t).reading(SourceThreads)
		if why == nil {
			why = t.loopsBeside()
		}
		if why != nil {
			return 0, why
		}
		return float64(r.Counts["run_ns"]) / float64(r.Elapsed), nil
	}
}

// runDelay is seconds per second that traffic threads were ready to run and did
// not, all of them together.
func runDelay(end whichEnd) derivation {
	return func(t *Trial) (float64, *Warning) {
		r, why := end(t).reading(SourceThreads)
		if why != nil {
			return 0, why
		}
		sum := 0.0
		for name, n := range r.Counts {
			if strings.HasPrefix(name, "traffic") && strings.HasSuffix(name, ".run_delay_ns") {
				sum += float64(n)
			}
		}
		return sum / float64(r.Elapsed), nil
	}
}
