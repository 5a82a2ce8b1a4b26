package result

import (
	"fmt"
	"slices"
	"time"

	"netdelta/internal/spec"
)

// Derive computes every metric of the trial's test from what the two ends
// counted. A metric that the counts don't support is left out, and a warning
// says why; but not of those that a host counts only if it is asked to and can,
// and did not (Tells has them). All values are finite and none is negative.
func (t *Trial) Derive() ([]Metric, []Warning) {
	d := t.derived()
	return d.metrics, d.missing
}

// derived is what a trial gives: its figures, the reasons for those that are
// missing, and apart from them the reasons for those that nobody counted.
type derived struct {
	metrics            []Metric
	missing, uncounted []Warning
	told               map[Taken]bool // figures and what is in missing
}

func (t *Trial) derived() derived {
	x := derived{told: map[Taken]bool{}}
	if why := t.unavailable(); why != nil {
		for _, d := range Definitions(t.Test) {
			w := *why
			w.Metric = d.Name
			x.missing = append(x.missing, w)
		}
		return x
	}
	if t.Imported != nil {
		return t.derivedImported()
	}
	if _, ok := spec.KindOf(t.Test.Name); !ok {
		x.missing = []Warning{{Code: "unknown-test", Text: "the test is not one of this program's"}}
		return x
	}
	of := Definitions(t.Test)
	both := func(d *Definition) bool {
		for i := range of {
			if of[i].Name == d.Name && of[i].End != d.End {
				return true
			}
		}
		return false
	}
	for i := range of {
		d := &of[i]
		value, why := d.derive(t)
		if why == nil {
			why = t.broken(d.window(t))
		}
		if why == nil {
			x.metrics = append(x.metrics, Metric{Name: d.Name, End: d.End, Unit: d.Unit, Better: d.Better, Value: value})
			x.told[d.Taken()] = true
			continue
		}
		if why.Metric == "" {
			why.Metric = d.Name
		}
		if both(d) {
			why.End = d.End
		}
		if d.need == optional && (why.Code == NotAsked || why.Code == NotCounted) {
			x.uncounted = append(x.uncounted, *why)
			continue
		}
		x.missing = append(x.missing, *why)
		x.told[d.Taken()] = true
	}
	return x
}

// Reduced is all that reports take from a trial: its figures, what AllWarnings says
// against them, and what Tells says of them.
type Reduced struct {
	Metrics   []Metric
	Warnings  []Warning
	Told      map[Taken]bool
	Uncounted []Warning
}

// Reduce derives all of it at once. Of ten thousand trials that is a good part of the
// time that a report takes.
func (t *Trial) Reduce() Reduced {
	d := t.derived()
	return Reduced{Metrics: d.metrics, Warnings: t.withWarnings(d.missing), Told: d.told, Uncounted: d.uncounted}
}

// Metrics returns the metrics that Derive could compute.
func (t *Trial) Metrics() []Metric {
	metrics, _ := t.Derive()
	return metrics
}

// Unavailable is the code of the warning of a trial that a host could not
// carry out, which has no figures: the text says why.
const Unavailable = "unavailable"

func (t *Trial) unavailable() *Warning {
	i := slices.IndexFunc(t.Warnings, func(w Warning) bool { return w.Code == Unavailable })
	if i < 0 {
		return nil
	}
	return &t.Warnings[i]
}

// AllWarnings returns what the trial, its two ends and Derive have to say
// against its figures, each thing once. What is said against figures that the
// test does not take is left out.
func (t *Trial) AllWarnings() []Warning {
	_, missing := t.Derive()
	return t.withWarnings(missing)
}

// shortWindow is the code of an engine's warning that the traffic ended before
// its end's window did, and of the reason for a metric that is missing for it.
const shortWindow = "short-window"

// shortestStream is the shortest window of a stream whose end a count set, and
// in which a rate is more than the chance of what the socket had already.
const shortestStream = time.Millisecond

// broken says why nothing that an end counted in its window is a figure, if
// the window was less than half as long as planned. A shorter one makes a
// figure noisier, and the engine's own warning says so; one that is broken is
// of another part of the traffic than its pair's, such as the beginning alone.
func (t *Trial) broken(e *End) *Warning {
	if e != nil && t.reached(e) && t.Test.Kind().IsStream() && e.Elapsed < shortestStream {
		return &Warning{Code: "few-messages", Advice: "ask for more (count=, bytes=)",
			Text: fmt.Sprintf("the %s end's window of %d messages lasted %v, too short for a rate", e.Role, e.Messages, e.Elapsed)}
	}
	if e == nil || t.Window == 0 || e.Elapsed >= t.planned(e)/2 {
		return nil
	}
	return &Warning{Code: shortWindow, Advice: "look at the link for what kept the traffic back, or measure for longer (--time)",
		Text: fmt.Sprintf("the %s end's window lasted %v of %v, less than half", e.Role, e.Elapsed, t.planned(e))}
}

func (t *Trial) withWarnings(missing []Warning) []Warning {
	sources := [][]Warning{t.Warnings, t.Local.Warnings}
	if t.Imported != nil {
		return slices.Concat(sources...)
	}
	if t.Remote != nil {
		remote := t.Remote.Warnings
		if p := t.Test.Kind().Pattern; p == spec.RoundTrip || p == spec.Connect {
			// The local end sets the pace and ends it; no metric of a round
			// trip is taken in the remote end's window.
			remote = slices.DeleteFunc(slices.Clone(remote), func(w Warning) bool { return w.Code == shortWindow })
		}
		sources = append(sources, remote)
	}
	var all []Warning
	for _, w := range slices.Concat(append(sources, missing, t.unaccountedFor(), t.unreached(), t.guards())...) {
		if w.Code == Unavailable && w.Metric != "" {
			continue // the trial's own warning says it once for all metrics
		}
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}
