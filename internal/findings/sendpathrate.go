package findings

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stats"
)

// atRate is what there is at one rate, whatever the interface does for the sender: a
// method's change is told over all of that, as the mean of the logarithms in each
// block. Each by itself is in the tables, with the verdict of the report's family.
type atRate []*sending

// rates shares what there is out to rates, in their order.
func rates(all []sending) []atRate {
	var groups []atRate
	for i := range all {
		s := &all[i]
		if n := len(groups); n > 0 && groups[n-1][0].rate == s.rate {
			groups[n-1] = append(groups[n-1], s)
			continue
		}
		found := false
		for j := range groups {
			if groups[j][0].rate == s.rate {
				groups[j], found = append(groups[j], s), true
			}
		}
		if !found {
			groups = append(groups, atRate{s})
		}
	}
	return groups
}

// change is what a method changes of a figure at the rate.
func (g atRate) change(method string, of result.Taken) stats.Interval {
	var all [][]float64
	for _, s := range g {
		all = append(all, logRatio(s.in.averaged(s.test, s.variants(s.methods[0]), of), s.in.averaged(s.test, s.variants(method), of)))
	}
	return g[0].in.changeOf(mean(all...))
}

// over names what the change is a mean over: " over tx tso, none".
func (g atRate) over() string {
	if len(g) < 2 {
		return ""
	}
	names := make([]string, len(g))
	for i, s := range g {
		names[i] = s.tx
	}
	return ", over tx " + strings.Join(names, " and ")
}

// cpu is what a method changes of the CPU time of an end, by the sharpest figure that
// there is, and which that is; NaN for none.
func (g atRate) cpu(method string, end int) (stats.Interval, string) {
	var d stats.Interval
	for _, h := range hows {
		if d = g.change(method, g[0].costOf(end+h.at)); finite(d.Est) {
			return d, h.name
		}
	}
	return d, ""
}

// together has a sentence a rate: what sendfile, or the first method where that is not
// compared, changes, and whether it is cheaper for its sender; where it is not, what
// the counters have to say of it.
func together(all []sending) []string {
	methods := all[0].methods
	if len(methods) < 2 {
		return nil
	}
	told := methods[1]
	if slices.Contains(methods[1:], sendfile) {
		told = sendfile
	}
	var sentences, why []string
	for _, g := range rates(all) {
		var parts []string
		conclusion := ""
		for _, end := range []struct {
			name  string
			first int
		}{{"sender's", sender}, {"receiver's", receiver}} {
			d, how := g.cpu(told, end.first)
			if !finite(d.Est) {
				continue
			}
			parts = append(parts, fmt.Sprintf("%s %s %s", end.name, how, percents(d)))
			if end.first == sender {
				conclusion = g.conclude(told, d)
			}
		}
		if d := g.change(told, remote(result.Goodput)); finite(d.Est) {
			parts = append(parts, "goodput "+percents(d))
		}
		if len(parts) == 0 {
			continue
		}
		text := fmt.Sprintf("%s against %s%s%s: %s", told, methods[0], g[0].atRate(), g.over(), strings.Join(parts, "; "))
		if conclusion == "" {
			conclusion = "what it costs the sender is not known, since CPU time was not compared"
		}
		if sentences = append(sentences, text+": "+conclusion+"."); !strings.HasPrefix(conclusion, cheaper) {
			why = append(why, strings.TrimSpace(g[0].at()+" "+g[0].counters(told)))
		}
	}
	if len(why) > 0 {
		sentences = append(sentences, fmt.Sprintf("By the counters, %s against %s: %s.", told, methods[0], strings.Join(why, "; ")))
	}
	return sentences
}

// Conclusions: that sendfile is the cheaper of itself and read+write was reported.
const (
	cheaper   = "cheaper for the sender"
	dearer    = "dearer for the sender"
	sendfile  = "sendfile"
	readWrite = "read+write"
)

// conclude says what a method's change of the sender's CPU time comes to.
func (g atRate) conclude(method string, d stats.Interval) string {
	margin := 100 * g[0].in.Plan.Margin
	reported, contrary := "", ""
	if spec.BaseLevel(method) == sendfile && spec.BaseLevel(g[0].methods[0]) == readWrite {
		reported, contrary = ", as reported", ", the contrary of what was reported"
	}
	switch {
	case !g[0].in.settled(d):
		return "not sure from so few blocks"
	case d.Lo > -margin && d.Hi < margin:
		return "the same for the sender"
	case d.Hi < 0:
		return cheaper + reported
	case d.Lo > 0:
		return dearer + contrary
	}
	return "not surely either for the sender"
}
