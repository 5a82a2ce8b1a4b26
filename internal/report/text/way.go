package text

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// onTheWay tells what the counters between the two programs saw: where
// datagrams went missing, and how often the wire had to wake up.
func onTheWay(r *compare.Report) []string {
	lines := lay(losses(r))
	// Where there is no room for it, the JSON form has it.
	if t := wakeups(r); t != nil && t.fits() {
		lines = append(lines, t.lines(fit([]*table{t}))...)
	}
	if len(lines) == 0 {
		return nil
	}
	return append(wrap(wayTitle(r), "", "  "), lines...)
}

// wayTitle says what the figures on the way are.
func wayTitle(r *compare.Report) string {
	title := "On the way (medians over whole trials, warm-up included"
	if slices.ContainsFunc(r.Losses, namesHost) {
		title += "; a is the local end's host, b the remote one's"
	}
	return title + ")"
}

// namesHost says whether a loss's line names a host by its letter.
func namesHost(l compare.Loss) bool {
	return slices.ContainsFunc(l.Places, func(p compare.Place) bool {
		return p.End == compare.PathEnd && !strings.HasPrefix(p.Name, "wire.")
	})
}

// losses is a line for each test and variant that lost datagrams.
func losses(r *compare.Report) []Item {
	var all []Item
	last := ""
	for i := range r.Losses {
		l := &r.Losses[i]
		if of := named(l.Test, l.Params, l.Under); of != last {
			what := "what was sent"
			if answered(l) {
				what = "requests"
			}
			all = append(all, titled(of+", share of "+what))
			last = of
		}
		all = append(all, indented(l.Variant+" "+lossText(l)))
	}
	return all
}

func named(test string, p spec.Params, under string) string {
	of := spec.Test{Name: test, Params: p}.String()
	if under != "" {
		of += ", " + under
	}
	return of
}

// lossText is a loss and where it happened: "lost 77%: 68% at a's interface
// (tx_dropped), 9% at b's socket".
func lossText(l *compare.Loss) string {
	var where []string
	for _, p := range l.Places {
		share := percent(p.Share)
		switch inside := strings.Contains(p.Name, "."); {
		case l.Frames && p.End == compare.PathEnd:
			share += " of the frames"
		case l.Frames && inside:
			share += ", counted in packets,"
		}
		where = append(where, share+" "+placeText(p, answered(l)))
	}
	if l.Unnamed != nil && *l.Unnamed >= leastUnnamed {
		where = append(where, percent(*l.Unnamed)+" where nothing counts")
	}
	text := "lost " + percent(l.Lost)
	if len(where) > 0 {
		text += ": " + strings.Join(where, ", ")
	}
	return text
}

// leastUnnamed is what medians may be apart without anything being missing.
const leastUnnamed = 0.01

func percent(share float64) string {
	v := 100 * share
	switch {
	case v > 99 && v < 100:
		return ">99%"
	case v >= 9.95:
		return fmt.Sprintf("%.0f%%", v)
	}
	return fmt.Sprintf("%.2g%%", v)
}

// answered says that what went missing is requests and answers.
func answered(l *compare.Loss) bool {
	return spec.Test{Name: l.Test}.Kind().Pattern == spec.RoundTrip
}

// placeText says where a counter is, of a stream or of round trips.
func placeText(p compare.Place, answered bool) string {
	host, name, _ := strings.Cut(p.Name, ".")
	switch {
	case p.End == result.Local || p.End == result.Remote:
		return hostPlaceText(hostText(p.End, answered), host, name)
	case strings.HasPrefix(p.Name, "wire.b_to_a."):
		return fmt.Sprintf("in the wire back (%s)", name[strings.LastIndexByte(name, '.')+1:])
	case host == "wire":
		return fmt.Sprintf("in the wire (%s)", name[strings.LastIndexByte(name, '.')+1:])
	}
	return fmt.Sprintf("at %s's interface (%s)", host, name)
}

// hostText is what an end is called.
func hostText(end string, answered bool) string {
	switch {
	case answered:
		return end + " end"
	case end == result.Local:
		return "sender"
	}
	return "receiver"
}

// hostPlaceText says where a counter of one of the two hosts is, by its source; a
// count of an engine is of its socket.
func hostPlaceText(who, source, name string) string {
	switch source {
	case result.SourceDevice:
		return fmt.Sprintf("at the %s's interface (%s)", who, name)
	case result.SourceQdisc:
		return fmt.Sprintf("in the %s's queueing discipline (%s)", who, name)
	case result.SourceSoftnet:
		return fmt.Sprintf("in the %s's backlog (softnet %s)", who, name)
	case result.SourceSNMP:
		return fmt.Sprintf("by the %s's network stack (%s)", who, name)
	}
	return fmt.Sprintf("at the %s's socket", who)
}

// wakeups is the frames that the wire carried for each time that it woke, by
// test and variant; nil if there is no wire.
func wakeups(r *compare.Report) *table {
	type key struct{ of, variant string }
	frames, woke := map[key]float64{}, map[key]float64{}
	var tests, variants []string
	add := func(list *[]string, s string) {
		for _, o := range *list {
			if o == s {
				return
			}
		}
		*list = append(*list, s)
	}
	for _, c := range r.Counts {
		into := frames
		switch c.Name {
		case "wire.a_to_b.wakeups", "wire.b_to_a.wakeups":
			into = woke
		case "wire.a_to_b.frames_in", "wire.b_to_a.frames_in":
		default:
			continue
		}
		of := named(c.Test, c.Params, c.Under)
		add(&tests, of)
		add(&variants, c.Variant)
		into[key{of, c.Variant}] += c.Median
	}
	if len(woke) == 0 {
		return nil
	}
	t := &table{head: append([]string{"frames for each wake-up of the wire"}, variants...), right: make([]bool, 1+len(variants))}
	for i := range variants {
		t.right[1+i] = true
	}
	for _, of := range tests {
		cells := []string{"  " + of}
		for _, v := range variants {
			k := key{of, v}
			cell := "n/a"
			if woke[k] > 0 {
				cell = unit.FormatIn(frames[k]/woke[k], 1)
			}
			cells = append(cells, cell)
		}
		t.add(cells...)
	}
	return t
}
