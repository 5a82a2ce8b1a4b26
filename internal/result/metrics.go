package result

import (
	"fmt"
	"slices"
	"time"

	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// Scale says how two figures of a metric are compared.
type Scale string

const (
	// Percent is the relative change, for figures that are always positive.
	Percent Scale = "percent"
	// Difference is B - A in the metric's unit, for figures that can be zero.
	Difference Scale = "difference"
)

// Rank says how far forward a report shows a metric.
type Rank int

const (
	// Headline is the metric that stands for its test in a report's answer.
	Headline Rank = iota
	// Main is shown in every table.
	Main
	// NonZero is shown in a table where it was ever other than zero.
	NonZero
	// Detail is kept for those who ask for every figure.
	Detail
)

// Definition is a metric of one kind of test: a row of the table of metrics.
type Definition struct {
	Name   string
	End    string // where it is taken: Local or Remote
	Unit   unit.Unit
	Better Better
	Scale  Scale
	Rank   Rank
	About  string

	patterns  []spec.Pattern
	protocols []spec.Protocol      // nil for all
	of        func(spec.Test) bool // tests of these; nil for all
	window    whichEnd             // the end in whose window it is counted
	derive    derivation
}

// Taken says which figure it defines.
func (d Definition) Taken() Taken { return Taken{d.Name, d.End} }

// derivation computes one figure of a trial, or says why there is none.
type derivation func(*Trial) (float64, *Warning)

var (
	// timed tests have round trips of any kind; answered ones need an answer
	// that the path can lose.
	timed    = []spec.Pattern{spec.Echo, spec.RoundTrip, spec.Connect, spec.Wake}
	answered = []spec.Pattern{spec.Echo, spec.RoundTrip}
	// forth is a stream to the remote end, back one from there.
	forth = []spec.Pattern{spec.Stream, spec.Duplex}
	back  = []spec.Pattern{spec.Reverse, spec.Duplex}

	datagrams = []spec.Protocol{spec.ICMP, spec.UDP}
	onlyUDP   = []spec.Protocol{spec.UDP}
	onlyTCP   = []spec.Protocol{spec.TCP}

	// paced tests have a rate that the local end keeps.
	paced = []spec.Pattern{spec.Echo, spec.RoundTrip, spec.Stream}
)

// zeroCopy says that the sender of a test asks the kernel not to copy.
func zeroCopy(t spec.Test) bool {
	return t.Params.Send == "zerocopy" || t.Params.Send == "uring-zc"
}

// loadForth and loadBack say that the stream beside a test goes to the remote
// end, and comes from there.
func loadForth(t spec.Test) bool { return spec.Test{Name: t.Params.Load}.Kind().Sends() }
func loadBack(t spec.Test) bool  { return spec.Test{Name: t.Params.Load}.Kind().Receives() }

// definitions is the table of metrics, in the order in which reports show
// them. A new metric is a row here and, at most, a derivation.
var definitions = []Definition{
	{RTTP50, Local, unit.Nanoseconds, Lower, Percent, Headline,
		"median round trip", timed, nil, nil, localEnd, quantile(RTTP50, 0.5)},
	{RTTP99, Local, unit.Nanoseconds, Lower, Percent, Main,
		"round trip that 1 in 100 exceeds", timed, nil, nil, localEnd, quantile(RTTP99, 0.99)},
	{Rate, Local, unit.PerSecond, Higher, Percent, Main,
		"round trips completed per second", timed, nil, nil, localEnd, perSecond(localEnd, messages)},
	{Goodput, Remote, unit.BitsPerSecond, Higher, Percent, Headline,
		"payload that the remote end received", forth, nil, nil, receiving(remoteEnd), perSecond(receiving(remoteEnd), sent)},
	{Goodput, Local, unit.BitsPerSecond, Higher, Percent, Headline,
		"payload that the local end received", []spec.Pattern{spec.Reverse}, nil, nil, receiving(localEnd), perSecond(receiving(localEnd), sent)},
	{Goodput, Local, unit.BitsPerSecond, Higher, Percent, Main,
		"payload that the local end received", []spec.Pattern{spec.Duplex}, nil, nil, receiving(localEnd), perSecond(receiving(localEnd), sent)},
	{Packets, Remote, unit.PerSecond, Higher, Percent, Main,
		"datagrams that the receiver got per second", forth, onlyUDP, nil, remoteEnd, perSecond(remoteEnd, messages)},
	{Loss, Local, unit.Share, Lower, Difference, NonZero,
		"requests of the window that were never answered", answered, datagrams, nil, localEnd, requestLoss},
	{Loss, Remote, unit.Share, Lower, Difference, Main,
		"datagrams of the window that never came, the last ones included", forth, onlyUDP, nil, localEnd, streamLoss},
	{Offered, Local, unit.BitsPerSecond, Higher, Percent, Main,
		"payload that the sender handed to its kernel, which loss is a share of", forth, onlyUDP, nil, localEnd, perSecond(localEnd, sent)},
	{Retransmits, Local, unit.PerSecond, Lower, Difference, NonZero,
		"segments that the local end sent again per second", forth, onlyTCP, nil, localEnd, perSecond(localEnd, counted("retransmits"))},
	{Retransmits, Remote, unit.PerSecond, Lower, Difference, NonZero,
		"segments that the remote end sent again per second", back, onlyTCP, nil, remoteEnd, perSecond(remoteEnd, counted("retransmits"))},
	{Duplicates, Remote, unit.Share, Lower, Difference, NonZero,
		"datagrams received more than once", forth, onlyUDP, nil, localEnd, shareReceived("duplicates")},
	{Reordered, Remote, unit.Share, Lower, Difference, NonZero,
		"datagrams received after a later one", forth, onlyUDP, nil, localEnd, shareReceived("reordered")},
	{ZeroCopied, Local, unit.Share, Lower, Difference, Main,
		"sends without copying that the kernel copied all the same", forth, nil, zeroCopy, localEnd, copied(localEnd)},
	{ZeroCopied, Remote, unit.Share, Lower, Difference, Main,
		"sends without copying that the kernel copied all the same", back, nil, zeroCopy, remoteEnd, copied(remoteEnd)},
	{Missed, Local, unit.Share, Lower, Difference, Main,
		"slots of the given rate in which nothing was sent", paced, nil, spec.Test.OpenLoop, localEnd, missed(localEnd)},
	{Missed, Remote, unit.Share, Lower, Difference, Main,
		"slots of the given rate in which nothing was sent", []spec.Pattern{spec.Reverse}, nil, spec.Test.OpenLoop, remoteEnd, missed(remoteEnd)},
	{LoadGoodput, Remote, unit.BitsPerSecond, Higher, Percent, Main,
		"payload that the remote end received of the stream beside", answered, nil, loadForth, beside(remoteEnd), loadBits(remoteEnd)},
	{LoadGoodput, Local, unit.BitsPerSecond, Higher, Percent, Main,
		"payload that the local end received of the stream beside", answered, nil, loadBack, beside(localEnd), loadBits(localEnd)},
	{Offered, Local, unit.BitsPerSecond, Higher, Percent, Detail,
		"payload that the local end handed to its kernel", forth, onlyTCP, nil, localEnd, perSecond(localEnd, sent)},
	{Offered, Remote, unit.BitsPerSecond, Higher, Percent, Detail,
		"payload that the remote end handed to its kernel", back, onlyTCP, nil, remoteEnd, perSecond(remoteEnd, sent)},
	{RTTMin, Local, unit.Nanoseconds, Lower, Percent, Detail,
		"shortest round trip", timed, nil, nil, localEnd, quantile(RTTMin, 0)},
	{RTTMean, Local, unit.Nanoseconds, Lower, Percent, Detail,
		"mean round trip", timed, nil, nil, localEnd, meanRTT},
	{RTTP90, Local, unit.Nanoseconds, Lower, Percent, Detail,
		"round trip that 1 in 10 exceeds", timed, nil, nil, localEnd, quantile(RTTP90, 0.9)},
	{RTTP999, Local, unit.Nanoseconds, Lower, Percent, Detail,
		"round trip that 1 in 1000 exceeds", timed, nil, nil, localEnd, quantile(RTTP999, 0.999)},
	{RTTMax, Local, unit.Nanoseconds, Lower, Percent, Detail,
		"longest round trip", timed, nil, nil, localEnd, quantile(RTTMax, 1)},
}

// Definitions returns the metrics of a test in the order in which reports show
// them: those that matter most first.
func Definitions(t spec.Test) []Definition {
	k, ok := spec.KindOf(t.Name)
	if !ok {
		return nil
	}
	var of []Definition
	for _, d := range definitions {
		if slices.Contains(d.patterns, k.Pattern) && (d.protocols == nil || slices.Contains(d.protocols, k.Protocol)) &&
			(d.of == nil || d.of(t)) {
			of = append(of, d)
		}
	}
	return of
}

// DefinitionOf returns the definition of a metric, taken at that end, for a
// test.
func DefinitionOf(t spec.Test, metric, end string) (Definition, bool) {
	of := Definitions(t)
	i := slices.IndexFunc(of, func(d Definition) bool { return d.Name == metric && d.End == end })
	if i < 0 {
		return Definition{}, false
	}
	return of[i], true
}

var otherEnd = map[string]string{Local: Remote, Remote: Local}

// Derive computes every metric of the trial's test from what the two ends
// counted. A metric that the counts don't support is left out, and a warning
// says why. All values are finite and none is negative.
func (t *Trial) Derive() ([]Metric, []Warning) {
	var metrics []Metric
	var missing []Warning
	if why := t.unavailable(); why != nil {
		for _, d := range Definitions(t.Test) {
			w := *why
			w.Metric = d.Name
			missing = append(missing, w)
		}
		return nil, missing
	}
	if _, ok := spec.KindOf(t.Test.Name); !ok {
		return nil, []Warning{{Code: "unknown-test", Text: "the test is not one of this program's"}}
	}
	for _, d := range Definitions(t.Test) {
		value, why := d.derive(t)
		if why == nil {
			why = t.broken(d.window(t))
		}
		if why != nil {
			if why.Metric == "" {
				why.Metric = d.Name
			}
			if _, both := DefinitionOf(t.Test, d.Name, otherEnd[d.End]); both {
				why.End = d.End
			}
			missing = append(missing, *why)
			continue
		}
		metrics = append(metrics, Metric{Name: d.Name, End: d.End, Unit: d.Unit, Better: d.Better, Value: value})
	}
	return metrics, missing
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
	for _, w := range slices.Concat(append(sources, missing, t.unaccountedFor(), t.unreached())...) {
		if w.Code == Unavailable && w.Metric != "" {
			continue // the trial's own warning says it once for all metrics
		}
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}
