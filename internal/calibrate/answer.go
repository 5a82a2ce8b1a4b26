package calibrate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// answerBlocks is the number of blocks that the answer speaks of, and
// alarmBlocks that of which it tells false alarms.
const (
	answerBlocks = 24
	alarmBlocks  = 10
)

// sentences is the report in words.
func (r *Report) sentences() []string {
	var all []string
	for i := range r.Best {
		all = append(all, r.sees(&r.Best[i])...)
	}
	if len(all) == 0 {
		all = append(all, "What this path sees could not be told: there are too few blocks.")
	}
	if s := r.alarmSentence(); s != "" {
		all = append(all, s)
	}
	for i := range r.Best {
		all = append(all, r.windowSentence(&r.Best[i]))
	}
	if s := r.driftSentence(); s != "" {
		all = append(all, s)
	}
	if r.Partial {
		all[0] = "Partial: " + all[0]
	}
	return all
}

// floor is the floor of a best window.
func (r *Report) floor(b *Best) (*Window, *Floor) {
	for i := range r.Windows {
		w := &r.Windows[i]
		for j := range w.Floors {
			fl := &w.Floors[j]
			if w.WindowNS == b.WindowNS && fl.Of() == (spec.Test{Name: b.Test, Params: b.Params}) && fl.Metric == b.Metric {
				return w, fl
			}
		}
	}
	return nil, nil
}

// sees says what effect can be seen, and from how many blocks on one of the
// margin.
func (r *Report) sees(b *Best) []string {
	w, fl := r.floor(b)
	if fl == nil || w.BlockNS == nil {
		return nil
	}
	name := fmt.Sprintf("%s of %s", fl.Metric, fl.Of().Short())
	i := slices.IndexFunc(fl.Detectable, func(d Detectable) bool { return d.Blocks == answerBlocks && d.EffectPct != nil })
	if i < 0 {
		return nil
	}
	d := fl.Detectable[i]
	text := fmt.Sprintf("This path sees %s in %s with %d blocks of %v (%s)", percentText(*d.EffectPct), name, d.Blocks, time.Duration(w.WindowNS), lasting(*d.TimeNS))
	enough := slices.IndexFunc(fl.Detectable, func(d Detectable) bool { return d.EffectPct != nil && *d.EffectPct <= r.MarginPct })
	switch {
	case enough < 0:
		last := fl.Detectable[len(fl.Detectable)-1]
		text += fmt.Sprintf("; %g%% is more than %d blocks show.", r.MarginPct, last.Blocks)
	case fl.Detectable[enough].Blocks == answerBlocks:
		text += "."
	default:
		e := fl.Detectable[enough]
		text += fmt.Sprintf("; for %g%% it takes %d (%s).", r.MarginPct, e.Blocks, lasting(*e.TimeNS))
	}
	return []string{text}
}

// alarmSentence is about the comparisons of one size of all windows together.
func (r *Report) alarmSentence() string {
	n := alarmBlocks
	var paired, turn Share
	for _, size := range []int{alarmBlocks, alarmSizes[0]} {
		n, paired, turn = size, Share{}, Share{}
		for _, w := range r.Windows {
			for _, a := range w.Alarms {
				if a.Blocks == size {
					paired.Count, paired.Of = paired.Count+a.Paired.Count, paired.Of+a.Paired.Of
					turn.Count, turn.Of = turn.Count+a.InTurn.Count, turn.Of+a.InTurn.Of
				}
			}
		}
		if paired.Of > 0 {
			break
		}
	}
	if paired.Of == 0 {
		return ""
	}
	paired.complete()
	turn.complete()
	return fmt.Sprintf("Nothing differed, and of %s of %d blocks %d saw a difference (%s); all A, then all B with Welch's t sees one in %d of %d made of the same trials (%s).",
		unit.Count(paired.Of, "comparison"), n, paired.Count, interval(paired), turn.Count, turn.Of, interval(turn))
}

// interval is a share with its interval: "5%, 1 to 12".
func interval(s Share) string {
	if s.Pct == nil {
		return "n/a"
	}
	return fmt.Sprintf("%.0f%%, %.0f to %.0f", *s.Pct, *s.LoPct, *s.HiPct)
}

func (r *Report) windowSentence(b *Best) string {
	name := fmt.Sprintf("%s of %s", b.Metric, (&spec.Test{Name: b.Test, Params: b.Params}).Short())
	best := fmt.Sprintf("For %s a window of %v gives the narrowest interval for the time", name, time.Duration(b.WindowNS))
	switch {
	case b.Limit == Untold:
		return fmt.Sprintf("Which window is best for %s could not be told: %s.", name, b.Why)
	case !b.Sure:
		best += ", if not surely"
	}
	return best + ": " + b.Why + "."
}

// driftSentence tells of the figure that moved most.
func (r *Report) driftSentence() string {
	var most *Floor
	for i := range r.Windows {
		for j := range r.Windows[i].Floors {
			fl := &r.Windows[i].Floors[j]
			if fl.Drifts && fl.SwingPct != nil && (most == nil || *fl.SwingPct > *most.SwingPct) {
				most = fl
			}
		}
	}
	if most == nil {
		return ""
	}
	return fmt.Sprintf("The path drifted meanwhile: %s of %s by %s (neighbouring blocks correlate with %.2f).",
		most.Metric, most.Of().Short(), percentText(*most.SwingPct), *most.Autocorrelation)
}

// percentText writes a percentage with two digits.
func percentText(v float64) string {
	if v >= 99.5 {
		return strconv.FormatFloat(v, 'f', 0, 64) + "%"
	}
	if v == 0 || math.Abs(v) < 0.001 {
		return "<0.001%"
	}
	digits := max(0, 1-int(math.Floor(math.Log10(math.Abs(v)))))
	return strconv.FormatFloat(v, 'f', digits, 64) + "%"
}

// lasting writes a time in seconds or minutes.
func lasting(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f min", d.Minutes())
}
