package findings

import (
	"fmt"
	"math"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// rateWithin is the share of a rate within which it is to be found.
const rateWithin = 0.01

// What a frame takes of a line beside what is in it (IEEE 802.3): its header, and
// preamble, checksum and gap, which the wire's rate is of, too. A frame takes no less
// than shortestOnLine.
const (
	ethernetHeader = 14
	lineOverhead   = 24
	shortestOnLine = 84
)

// limited holds what streams of TCP brought against what the rate lets through of
// it: of each frame its payload.
func (p *put) limited() []compare.Check {
	rate, err := unit.ParseBitRate(p.value)
	if err != nil {
		return p.unread(err)
	}
	var all []compare.Check
	tests := p.in.testsOf(tcpStream)
	for _, test := range tests {
		c := compare.Check{Name: "rate " + p.value + namedAmong(test, tests), Wanted: float64(rate), Unit: unit.BitsPerSecond}
		trials := p.made(test)
		goodput, share := p.goodput(test, p.variants), p.in.median(p.each(test, p.in.payloadShare)).Est
		switch {
		case len(trials) == 0:
			c.Text = "no trial of it was made"
		case !finite(share):
			c.Text = "what of it is payload is not known, since the segments were not counted"
		default:
			c.Wanted *= share
			c.Within = rateWithin * c.Wanted
			found(&c, p.in.median(goodput))
			c.Text = joinTexts(c.Text, fmt.Sprintf("%s of the line is payload", unit.Format(share, unit.Share)))
			if !c.Pass {
				c.Text = joinTexts(c.Text, p.unlimited(test), held(trials), trouble(trials))
			}
		}
		all = append(all, c)
	}
	return all
}

// goodput is what came by block.
func (p *put) goodput(test spec.Test, variants []spec.Variant) []float64 {
	return p.in.averaged(test, variants, remote(result.Goodput))
}

// each is what f makes of the level's trials, by block.
func (p *put) each(test spec.Test, f func(*result.Trial) float64) []float64 {
	all := make([][]float64, len(p.variants))
	for i, v := range p.variants {
		all[i] = p.in.each(test, v, f)
	}
	return mean(all...)
}

// unlimited says what the path carries where the wire puts nothing in: a rate above
// that can't be found.
func (p *put) unlimited(test spec.Test) string {
	if p.none == "" {
		return ""
	}
	i := p.in.median(p.goodput(test, p.in.having(spec.Variant{putIn: p.none})))
	if !finite(i.Est) {
		return ""
	}
	return "without a rate the path carries " + unit.Format(i.Est, unit.BitsPerSecond)
}

// payloadShare is what of a line's rate is left for the payload of TCP, 0 to 1, by
// the sizes that the sender's connection tells (TCP_INFO): a segment's payload
// against all that it takes on the line. It is NaN where they are not known.
func (in *Input) payloadShare(t *result.Trial) float64 {
	info := t.Local.Counters.Reading(result.SourceTCPInfo)
	segment := in.figure(t, local(result.BytesPerSegment))
	if info == nil || !finite(segment) {
		return math.NaN()
	}
	// What is not payload of the path's largest packet is headers with options.
	headers := info.Levels["pmtu"] - info.Levels["mss"]
	if info.Levels["mss"] <= 0 || headers <= 0 {
		return math.NaN()
	}
	return segment / math.Max(segment+float64(headers)+ethernetHeader+lineOverhead, shortestOnLine)
}
