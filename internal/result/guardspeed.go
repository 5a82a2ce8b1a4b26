package result

import (
	"fmt"

	"netdelta/internal/spec"
)

// HeldBy is what held a test's throughput.
type HeldBy string

const (
	// HeldByLink is the speed of the slower of the two interfaces, HeldByRate
	// the open loop's rate, HeldByPacing SO_MAX_PACING_RATE.
	HeldByLink   HeldBy = "link"
	HeldByRate   HeldBy = "rate"
	HeldByPacing HeldBy = "pacing"
)

// Held says that throughput was as much as something allowed, so that it can't
// tell two variants apart: only what it cost can.
type Held struct {
	By HeldBy `json:"by"`
	// Limit is what it was held at, in bit/s: of an interface all that it can
	// carry, headers included; of a rate payload.
	Limit float64 `json:"limit"`
}

// Thresholds of throughput, as shares of what was allowed.
const (
	saturatedLink = 0.95
	aboveLink     = 1.01
	keptSlots     = 0.02 // of the slots may be missed
	keptRateFrom  = 0.98
	// A paced flow's rate is with headers (tcp(7), SO_MAX_PACING_RATE of
	// socket(7)).
	keptPacing = 0.93
)

// Held says what held the goodput at an end, nil if nothing did: then it is as
// much as the machines and the path gave.
func (t *Trial) Held(at string) *Held {
	goodput, receiver := t.goodput(at)
	if goodput <= 0 {
		return nil
	}
	if limit := t.asked(); limit > 0 {
		if t.keptRate() && goodput >= keptRateFrom*limit {
			return &Held{HeldByRate, limit}
		}
	}
	if limit := float64(t.Test.Params.Pacing) * float64(t.Test.Flows()); limit > 0 && goodput >= keptPacing*limit {
		return &Held{HeldByPacing, limit}
	}
	speed, payload := t.link(receiver)
	if speed > 0 && goodput >= saturatedLink*speed*payload && goodput <= aboveLink*speed*payload {
		return &Held{HeldByLink, speed}
	}
	return nil
}

// goodput is the payload that an end received per second, 0 if it did not.
func (t *Trial) goodput(at string) (bits float64, receiver *End) {
	end := receiving(localEnd)
	k := t.Test.Kind()
	receives := k.Receives()
	if at == Remote {
		end, receives = receiving(remoteEnd), k.Sends()
	}
	e := end(t)
	if !receives || e == nil || e.Elapsed <= 0 {
		return 0, nil
	}
	return 8 * float64(e.Bytes) / e.Elapsed.Seconds(), e
}

// asked is the payload per second that an open loop's stream is to have, 0 for
// other tests.
func (t *Trial) asked() float64 {
	if !t.Test.OpenLoop() || !t.Test.Kind().IsStream() {
		return 0
	}
	return t.Test.Slots() * 8 * float64(t.Test.RequestSize())
}

// keptRate says that the test has a rate and that its sender kept it.
func (t *Trial) keptRate() bool {
	if !t.Test.OpenLoop() {
		return false
	}
	for _, e := range []*End{&t.Local, t.Remote} {
		if e == nil {
			continue
		}
		if slots := e.Counts[CountSlots]; slots > 0 {
			return float64(e.Counts[CountMissed]) <= keptSlots*float64(slots)
		}
	}
	return false
}

// Bytes around a packet's payload. A frame has 14 of header, 4 of checksum, 8
// of preamble and 12 of gap (IEEE 802.3, 3.1.1 and 4.4.2), and 46 inside at
// least.
const (
	aroundFrame  = 38
	leastInFrame = 46
	ipv4Header   = 20
	ipv6Header   = 40
	udpHeader    = 8
	tcpHeader    = 20 + 12 // with the timestamps of RFC 7323
)

// link is the speed of the slower of the two ends' interfaces in bit/s, and
// the share of that which payload of the test can have at most. It is 0 where
// no interface tells a speed, and on one machine, between whose ends there is no
// line.
func (t *Trial) link(receiver *End) (speed, payload float64) {
	if t.onOneMachine() {
		return 0, 0
	}
	mtu := int64(0)
	for _, e := range []*End{&t.Local, t.Remote} {
		if e == nil {
			continue
		}
		_, bits, known := around(e, SourceDevice).stood("speed_bps")
		if known && bits > 0 && (speed == 0 || float64(bits) < speed) {
			speed = float64(bits)
		}
		if _, m, known := around(e, SourceDevice).stood("mtu"); known && m > 0 && (mtu == 0 || m < mtu) {
			mtu = m
		}
	}
	if speed == 0 || mtu <= ipv6Header+tcpHeader {
		return 0, 0
	}
	header := int64(ipv4Header)
	if six := receiver.Counters.Reading(SourceSNMP); six.rose("Ip6.InReceives") > six.rose("Ip.InReceives") {
		header = ipv6Header
	}
	return speed, payloadShare(t.Test, mtu, header)
}

// payloadShare is the share of what goes over an Ethernet that is payload of
// the test, of packets as large as the MTU allows.
func payloadShare(test spec.Test, mtu, ipHeader int64) float64 {
	frame := func(inside int64) int64 { return max(inside, leastInFrame) + aroundFrame }
	if test.Kind().Protocol == spec.TCP {
		return ratio(float64(mtu-ipHeader-tcpHeader), float64(frame(mtu)))
	}
	size := int64(test.RequestSize())
	wire, rest, room := int64(0), size+udpHeader, mtu-ipHeader
	for rest > room { // a fragment
		wire += frame(mtu)
		rest -= room
	}
	return ratio(float64(size), float64(wire+frame(rest+ipHeader)))
}

// speedGuards warn of goodput that something held, and of figures that no
// interface could have carried.
func (t *Trial) speedGuards() []Warning {
	var all []Warning
	for _, at := range []string{Remote, Local} {
		goodput, receiver := t.goodput(at)
		if receiver == nil {
			continue
		}
		end := ""
		if t.Test.Kind().Pattern == spec.Duplex {
			end = at
		}
		held := t.Held(at)
		if held != nil {
			all = append(all, held.warning(goodput, end))
		}
		speed, payload := t.link(receiver)
		if speed == 0 || held != nil && held.By == HeldByLink {
			continue
		}
		if goodput > aboveLink*speed*payload {
			all = append(all, aboveLineRate(Goodput, goodput, speed, end,
				"the interface does not have the speed that it names (a virtual one), or not all traffic went over it: compare the record's device counts"))
			continue
		}
		if offered := 8 * ratio(float64(t.Local.Bytes), t.Local.Elapsed.Seconds()); at == Remote && t.Test.Kind().Protocol == spec.UDP && offered > aboveLink*speed*payload {
			all = append(all, aboveLineRate(Offered, offered, speed, end,
				"what the sender hands to its kernel is no throughput: take the receiver's goodput, or hold the rate (rate=)"))
		}
	}
	return all
}

func (h *Held) warning(goodput float64, end string) Warning {
	w := Warning{Code: GuardRateHeld, Metric: Goodput, End: end,
		Text:   fmt.Sprintf("throughput is what the test asks for (%s: %s)", h.By, inBits(h.Limit)),
		Advice: "compare the cost (cpu_per_byte); for throughput leave " + string(h.By) + " out"}
	if h.By == HeldByLink {
		w.Code = GuardLinkSaturated
		w.Text = fmt.Sprintf("the link is full (%s of payload over an interface of %s), so that throughput can't tell variants apart", inBits(goodput), inBits(h.Limit))
		w.Advice = "compare the cost (cpu_per_byte), best at a rate below the link's (rate=, pacing=)"
	}
	return w
}

func aboveLineRate(metric string, bits, speed float64, end, advice string) Warning {
	return Warning{Code: GuardAboveLineRate, Metric: metric, End: end, Advice: advice,
		Text: fmt.Sprintf("%s of payload are more than the interface of %s can carry", inBits(bits), inBits(speed))}
}

// nearlyAll is the share of trials in which something must have held
// throughput, and sameLimit how far apart, relatively, their limits may be.
const (
	nearlyAll = 0.9
	sameLimit = 0.01
)

// Like says that two are held by the same thing at the same limit.
func (h *Held) Like(o *Held) bool {
	if h == nil || o == nil {
		return h == o
	}
	most := max(h.Limit, o.Limit)
	return h.By == o.By && most-min(h.Limit, o.Limit) <= sameLimit*most
}

// HeldIn is what held throughput in nearly all of some trials, of each of which
// there is what Held says; nil if nothing did.
func HeldIn(trials []*Held) *Held {
	for _, held := range trials {
		n := 0
		for _, o := range trials {
			if held != nil && held.Like(o) {
				n++
			}
		}
		if n > 0 && float64(n) >= nearlyAll*float64(len(trials)) {
			return held
		}
	}
	return nil
}
