package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"netdelta/internal/result"
	"netdelta/internal/unit"
)

// Codes of what can be seen of posted figures.
const (
	postedLineRate = "posted-line-rate"
	withinSpread   = "within-spread"
	tailOnlyCode   = "tail-only"
	oneEndCPUCode  = "one-end-cpu"
	udpSender      = "udp-at-sender"
)

// links are the rates of usual links, in bit/s.
var links = []float64{10e6, 100e6, 1e9, 2.5e9, 5e9, 10e9, 25e9, 40e9, 50e9, 100e9}

// nearLink is the share of a link's rate from which a throughput may be its limit. At
// an MTU of 1500 a link carries 94.1% of its rate as TCP payload (1448 bytes in 1538)
// and with jumbo frames 99%; 88% is 6.5% below the former.
const nearLink = 0.88

// linkOf is the rate of the link that both throughputs may be held by; 0 for none.
func linkOf(a, b float64) float64 {
	for _, l := range links {
		if min(a, b) >= nearLink*l && max(a, b) <= l {
			return l
		}
	}
	return 0
}

// lineRate warns where both sides' throughput is near what one link carries. How
// fast the link was is not known, so it is no more than a warning.
func (r *unpaired) lineRate() []result.Warning {
	if r.Metric != result.Goodput && r.Metric != result.Throughput {
		return nil
	}
	a, b := value(r.A.Median), value(r.B.Median)
	l := linkOf(a, b)
	if l == 0 {
		return nil
	}
	return []result.Warning{{Code: postedLineRate, Metric: r.Metric, End: r.End,
		Text: fmt.Sprintf("both figures are near what a link of %s carries (%.3g%% and %.3g%% of its rate): if that held them, throughput can't tell these variants apart",
			unit.Format(l, unit.BitsPerSecond), 100*a/l, 100*b/l),
		Advice: "compare CPU cost, or use a faster link"}}
}

// withinSpread warns where the change is smaller than what the values themselves
// are known to vary by.
func (r *unpaired) withinSpread(m *match) []result.Warning {
	a, b := value(r.A.Median), value(r.B.Median)
	diff := math.Abs(b - a)
	if math.IsNaN(diff) || diff == 0 {
		return nil
	}
	var said []string
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	apart := max(reach(m, 0, r), reach(m, 1, r))
	if apart >= diff {
		say("runs of one variant differ by %s", unit.Format(apart, r.Unit))
	}
	if wa, wb, level := widest(m.trials(0), r.taken()), widest(m.trials(1), r.taken()), levelOf(m, r.taken()); wa*a/200+wb*b/200 >= diff {
		at := ""
		if level > 0 {
			at = fmt.Sprintf(" at %g%%", level)
		}
		say("the program's own confidence interval is %.3g%% and %.3g%% wide%s", wa, wb, at)
	}
	if s := r.Single; s != nil && s.Overlap > 0 && strings.HasSuffix(r.Metric, "_mean") {
		if sd := max(value(s.DeviationA), value(s.DeviationB)); sd >= diff {
			say("its single values have a standard deviation of up to %s", unit.Format(sd, r.Unit))
		}
	} else if s == nil && strings.HasSuffix(r.Metric, "_mean") {
		t := result.Taken{Name: strings.TrimSuffix(r.Metric, "mean") + "stddev", End: r.End}
		if sd := largest(slices.Concat(figuresOf(m.trials(0), t), figuresOf(m.trials(1), t))); sd >= diff {
			say("the program gives its single values a standard deviation of up to %s", unit.Format(sd, r.Unit))
		}
	}
	if len(said) == 0 && 2*apart >= diff {
		return []result.Warning{{Code: withinSpread, Metric: r.Metric, End: r.End,
			Text:   fmt.Sprintf("the change of %s is less than twice what runs of one variant differ by, %s", unit.Format(diff, r.Unit), unit.Format(apart, r.Unit)),
			Advice: "find out why runs of one variant differ so much, before anything else"}}
	}
	if len(said) == 0 {
		return nil
	}
	return []result.Warning{{Code: withinSpread, Metric: r.Metric, End: r.End,
		Text:   "the change is no larger than what the values themselves vary by: " + strings.Join(said, "; "),
		Advice: "more and longer runs of each"}}
}

// reach is how far the figures of one side lie apart.
func reach(m *match, side int, r *unpaired) float64 {
	f := slices.DeleteFunc(figuresOf(m.trials(side), r.taken()), math.IsNaN)
	if len(f) < 2 {
		return 0
	}
	return slices.Max(f) - slices.Min(f)
}

// largest is the largest number; -1 for none.
func largest(all []float64) float64 {
	most := -1.0
	for _, v := range all {
		if v > most {
			most = v
		}
	}
	return most
}

// widest is the widest confidence interval that the program gave, in percent of the
// value; 0 for none.
func widest(trials []*cell, t result.Taken) (pct float64) {
	for _, c := range trials {
		if f := c.posted.Figure(t); f != nil {
			pct = max(pct, f.WidthPct)
		}
	}
	return pct
}

func levelOf(m *match, t result.Taken) (pct float64) {
	for _, c := range append(m.trials(0), m.trials(1)...) {
		if f := c.posted.Figure(t); f != nil {
			pct = max(pct, f.LevelPct)
		}
	}
	return pct
}

// tailMoves is by how much a longest time has to move to be worth a word where
// nothing else did.
const tailMoves = 2

// tailOnly warns, in the rows of one test, where the longest time and the standard
// deviation moved and neither the mean nor any percentile did.
func tailOnly(rows []*unpaired) {
	for _, kind := range []string{"rtt_", "half_rtt_"} {
		for _, end := range []string{"", result.Local, result.Remote} {
			var body, tail []*unpaired
			still, most := true, 0.0
			for _, r := range rows {
				name, ok := strings.CutPrefix(r.Metric, kind)
				a, b := value(r.A.Median), value(r.B.Median)
				if !ok || r.End != end || math.IsNaN(a) || math.IsNaN(b) {
					continue
				}
				switch name {
				case "max", "stddev":
					if max(a, b) >= tailMoves*min(a, b) {
						tail = append(tail, r)
					}
				case "min", "p9999", "p99999": // few messages too
				default:
					body = append(body, r)
					change := math.Abs(value(r.DeltaPct))
					still, most = still && change <= r.Margin, max(most, change)
				}
			}
			if len(body) < 2 || !still {
				continue
			}
			for _, r := range tail {
				r.Warnings = append(r.Warnings, result.Warning{Code: tailOnlyCode, Metric: r.Metric, End: r.End,
					Text:   fmt.Sprintf("only the longest of all times moved: the mean and the percentiles changed by at most %.2g%%, so one message or a few of one run make this", most),
					Advice: "look whether it comes again in further runs before anything is concluded from it"})
			}
		}
	}
}

// oneEndCPU says which tests tell of the CPU of one end only.
func oneEndCPU(all []*match) []result.Warning {
	byEnd := map[string][]string{}
	for _, m := range all {
		var at []string
		for _, d := range importedOf(append(m.trials(0), m.trials(1)...)) {
			if (d.Name == result.CPUPerByte || strings.HasPrefix(d.Name, result.CPU)) && d.Name != result.CPUProcess && !slices.Contains(at, d.End) {
				at = append(at, d.End)
			}
		}
		if len(at) == 1 {
			byEnd[at[0]] = append(byEnd[at[0]], m.test.String())
		}
	}
	var warnings []result.Warning
	for _, end := range []string{"", result.Local, result.Remote} {
		if tests := byEnd[end]; len(tests) > 0 {
			of := "the " + end + " end"
			if end == "" {
				of = "one end"
			}
			warnings = append(warnings, result.Warning{Code: oneEndCPUCode,
				Text:   fmt.Sprintf("CPU is told of %s only (%s): what the change did to the other end's is not known", of, fewOf(tests)),
				Advice: "measure both ends (netperf -c -C)"})
		}
	}
	return warnings
}

// fewOf names a few of many.
func fewOf(names []string) string {
	const few = 3
	if len(names) <= few {
		return list(names)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

// udpAtSender warns of a test over UDP whose rate is the sender's, and says what its
// loss leaves of it. Readers that know it from the program's version have said so.
func udpAtSender(m *match, names [2]string) []result.Warning {
	if !strings.Contains(strings.ToLower(m.test.Name), "udp") {
		return nil
	}
	var arrived []string
	for side, name := range names {
		for _, c := range m.trials(side) {
			if slices.ContainsFunc(c.imported, func(d result.Definition) bool { return d.Name == result.Goodput || d.Name == result.Rate }) {
				return nil
			}
			for _, f := range c.posted.Figures {
				loss := c.posted.Figure(result.Taken{Name: result.Loss, End: result.Remote})
				if f.Metric == result.Offered && loss != nil && len(arrived) == side {
					arrived = append(arrived, fmt.Sprintf("%s in %s", unit.Format(f.Value*(1-loss.Value), f.Unit), name))
				}
			}
		}
	}
	known := func(c *cell) bool {
		return slices.ContainsFunc(c.imported, func(d result.Definition) bool { return d.Name == result.Offered })
	}
	if !slices.ContainsFunc(append(m.trials(0), m.trials(1)...), known) {
		return nil
	}
	text := m.describe(m.under) + ": the rate is what was sent, and UDP's sender does not see what arrives"
	if len(arrived) == len(names) {
		text += fmt.Sprintf("; by its loss about %s came through", list(arrived))
	}
	return []result.Warning{{Code: udpSender, Text: text, Advice: "compare what the receiver counted"}}
}
