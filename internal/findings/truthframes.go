package findings

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// counted is what is known to the frame of streams of datagrams: sums over the
// whole trials of one test.
type counted struct {
	trials int
	// known are the frames that the wire's shares are of; put are those of them
	// that it touched, and found the datagrams that the ends know to be so.
	known, put, found int64
	// others are packets that were none of the test's, and dropped is what was
	// dropped beside what was put in: as many can hide what was put in.
	others, dropped int64
	share           float64 // the metric's median over the trials
	odd             []string
	why             string // there is no figure; empty if there is
}

// touch is one of the ways in which the wire touches frames.
type touch struct {
	name   string // for people: "loss"
	count  string // of the wire
	metric string
	ends   string // the receiver's count of the whole trial; empty for what is missing
}

var (
	loss      = touch{"loss", "drop_loss", result.Loss, ""}
	duplicate = touch{"duplicate", "duplicated", result.Duplicates, result.CountDuplicatesAll}
	reorder   = touch{"reorder", "reordered", result.Reordered, result.CountReorderedAll}
)

func (p *put) lost() []compare.Check       { return p.touched(loss) }
func (p *put) duplicated() []compare.Check { return p.touched(duplicate) }
func (p *put) reordered() []compare.Check  { return p.touched(reorder) }

// touched holds what the ends found of the frames that the wire touched against what
// it says to have touched, to the frame; and that against the share that was asked
// for.
func (p *put) touched(how touch) []compare.Check {
	every, err := everyOf(p.value)
	if err != nil {
		return p.unread(err)
	}
	var all []compare.Check
	tests := p.in.testsOf(udpStream)
	for _, test := range tests {
		trials := p.made(test)
		n := p.count(test, how, every)
		c := compare.Check{Name: how.name + " " + p.value + namedAmong(test, tests), Wanted: float64(n.put), Unit: frames, Text: n.why}
		if n.why == "" {
			v := float64(n.found)
			c.Found, c.Pass = &v, len(n.odd) == 0
			if how.ends != "" { // what went missing is known by its place
				c.Within = float64(n.others + n.dropped)
			}
			c.Pass = c.Pass && math.Abs(v-c.Wanted) <= c.Within
			c.Text = n.text(how, every)
			if !c.Pass {
				c.Text = joinTexts(c.Text, trouble(trials))
			}
		}
		all = append(all, c)
	}
	return all
}

// everyOf reads "1/100", which is 100, or "1%", which is at random and 0.
func everyOf(value string) (int64, error) {
	if percent, ok := strings.CutSuffix(value, "%"); ok {
		_, err := strconv.ParseFloat(percent, 64)
		return 0, err
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(value, "1/"), 10, 64)
	if err == nil && (n < 1 || !strings.HasPrefix(value, "1/")) {
		err = fmt.Errorf("%q is not written as 1/100 or 1%%", value)
	}
	return n, err
}

// count sums up the trials of one test.
func (p *put) count(test spec.Test, how touch, every int64) counted {
	shares := make([][]float64, len(p.variants))
	for i, v := range p.variants {
		shares[i] = p.in.figures(test, v, remote(how.metric))
	}
	n := counted{share: p.in.median(mean(shares...)).Est, why: "no trial of it was made"}
	for _, t := range p.made(test) {
		if n.why = n.add(t, how, every); n.why != "" {
			break
		}
	}
	return n
}

// add takes a trial in, or says why nothing is known of it to the frame.
func (n *counted) add(t *result.Trial, how touch, every int64) string {
	balances := t.Balances()
	known := t.Path.Counts[wires[0]+"known_frames"]
	switch {
	case len(balances) == 0:
		return "the ends did not count the datagrams of the whole trial"
	case !balances[0].Exact:
		return "the datagrams are not known one by one"
	case known == 0:
		return "the wire did not count the frames that its shares are of"
	}
	b := &balances[0]
	put := t.Path.Counts[wires[0]+how.count]
	dropped := t.Path.Counts["a.tx_dropped"] + t.Path.Counts["b.rx_dropped"] + b.SocketDrops
	for name, drops := range t.Path.Counts {
		if strings.HasPrefix(name, wires[0]+"drop_") && name != wires[0]+loss.count {
			dropped += drops
		}
	}
	found := put + b.Rest
	if how.ends != "" {
		var there bool
		if found, there = t.Remote.Counts[how.ends]; !there {
			return "the receiver did not count " + how.ends
		}
	}
	n.trials++
	n.known += known
	n.put += put
	n.found += found
	n.others += b.Others
	n.dropped += dropped
	if every > 0 && !everyNth(put, known, every) && !(how == reorder && everyNth(put+1, known, every)) {
		n.odd = append(n.odd, fmt.Sprintf("in block %d %d of %d", t.Block+1, put, known))
	}
	return ""
}

// everyNth says whether put is every nth of the known frames. The wire goes on
// counting from trial to trial, so that one more can be due.
func everyNth(put, known, every int64) bool {
	return put == known/every || known%every != 0 && put == known/every+1
}

// text is what there is to say of the frames beside the check's figures.
func (n *counted) text(how touch, every int64) string {
	text := fmt.Sprintf("of %d frames in %s", n.known, unit.Count(n.trials, "trial"))
	switch {
	case len(n.odd) > 0:
		text += fmt.Sprintf(", which is not every %dth: %s", every, strings.Join(n.odd[:min(3, len(n.odd))], ", "))
	case every > 0:
		text += fmt.Sprintf(", exactly every %dth", every)
	}
	if finite(n.share) {
		text += fmt.Sprintf("; %s of the windows' datagrams", unit.Format(n.share, unit.Share))
	}
	if n.dropped > 0 {
		text += fmt.Sprintf("; %d more dropped at counters", n.dropped)
	}
	if how.ends != "" && n.others > 0 {
		text += fmt.Sprintf("; %s of others on the wire", unit.Count(int(n.others), "packet"))
	}
	return text
}

// untouched holds that nothing was lost without a counter that has it, nothing came
// twice or out of order, and the wire touched nothing.
func (p *put) untouched() []compare.Check {
	var all []compare.Check
	tests := p.in.testsOf(udpStream)
	for _, test := range tests {
		c := compare.Check{Name: p.level + ": nothing lost, doubled, reordered" + namedAmong(test, tests), Unit: frames}
		var sums [3]int64
		trials, dropped := p.made(test), int64(0)
		if len(trials) == 0 {
			c.Text = "no trial of it was made"
		}
		for i, how := range []touch{loss, duplicate, reorder} {
			for _, t := range trials {
				v, drops, why := untold(t, how)
				if why != "" {
					c.Text = why
				}
				sums[i] += v
				if how == loss {
					dropped += drops
				}
			}
		}
		if c.Text == "" {
			v := float64(sums[0] + sums[1] + sums[2])
			c.Found, c.Pass = &v, v == 0
			c.Text = fmt.Sprintf("%d lost, %d doubled, %d reordered in %s", sums[0], sums[1], sums[2], unit.Count(len(trials), "trial"))
			if dropped > 0 {
				c.Text += fmt.Sprintf("; %d dropped at counters", dropped)
			}
		}
		all = append(all, c)
	}
	return all
}

// untold is how many datagrams of a trial were touched in a way that nobody asked
// for, by the ends or by the wire, and those that counters say were dropped.
func untold(t *result.Trial, how touch) (n, dropped int64, why string) {
	balances := t.Balances()
	if len(balances) == 0 || !balances[0].Exact {
		return 0, 0, "the datagrams of the whole trial were not counted one by one"
	}
	b := &balances[0]
	put := t.Path.Counts[wires[0]+how.count]
	if how.ends == "" {
		rest := max(b.Rest, -b.Rest)
		for _, d := range b.Drops {
			dropped += d.Packets
		}
		return max(rest, put), dropped + b.SocketDrops - b.OtherDrops - put, ""
	}
	ends, there := t.Remote.Counts[how.ends]
	if !there {
		return 0, 0, "the receiver did not count " + how.ends
	}
	return max(ends, put), 0, ""
}
