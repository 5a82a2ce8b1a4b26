package ether

import "netdelta/internal/spec"

// pick picks a share of frames: every so manyth one, or each with a probability.
type pick struct {
	every, seen int
	below       uint64 // of 53 random bits
	state       uint64
}

// seeds of the generators, by direction and by what is picked: the same in each
// link, so that repetitions are hit alike.
const (
	seedAToB = 0x9e3779b97f4a7c15
	seedBToA = 0xd1b54a32d192ed03
)

func newPick(s spec.Share, seed uint64) pick {
	return pick{every: s.Every, below: uint64(s.Random * (1 << 53)), state: seed}
}

// hit tells whether the next frame is picked.
//
//go:nosplit
func (p *pick) hit() bool {
	switch {
	case p.every > 0:
		if p.seen++; p.seen == p.every {
			p.seen = 0
			return true
		}
	case p.below > 0:
		return p.random()>>11 < p.below
	}
	return false
}

// random is the next number of SplitMix64 (Steele, Lea, Flood 2014).
//
//go:nosplit
func (p *pick) random() uint64 {
	p.state += 0x9e3779b97f4a7c15
	z := p.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
