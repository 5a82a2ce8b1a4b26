package result

import (
	"fmt"
	"slices"

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
	protocols []spec.Protocol // nil for all
	window    whichEnd        // the end in whose window it is counted
	derive    derivation
}

// derivation computes one figure of a trial, or says why there is none.
type derivation func(*Trial) (float64, *Warning)

var (
	pingPong = []spec.Pattern{spec.Echo, spec.RoundTrip}
	oneWay   = []spec.Pattern{spec.Stream}

	datagrams = []spec.Protocol{spec.ICMP, spec.UDP}
	onlyUDP   = []spec.Protocol{spec.UDP}
	onlyTCP   = []spec.Protocol{spec.TCP}
)

// definitions is the table of metrics, in the order in which reports show
// them. A new metric is a row here and, at most, a derivation.
var definitions = []Definition{
	{RTTP50, Local, unit.Nanoseconds, Lower, Percent, Headline,
		"median round trip", pingPong, nil, localEnd, quantile(RTTP50, 0.5)},
	{RTTP99, Local, unit.Nanoseconds, Lower, Percent, Main,
		"round trip that 1 in 100 exceeds", pingPong, nil, localEnd, quantile(RTTP99, 0.99)},
	{Rate, Local, unit.PerSecond, Higher, Percent, Main,
		"round trips completed per second", pingPong, nil, localEnd, perSecond(localEnd, messages)},
	{Goodput, Remote, unit.BitsPerSecond, Higher, Percent, Headline,
		"payload that the receiver got", oneWay, nil, remoteEnd, perSecond(remoteEnd, payloadBits)},
	{Packets, Remote, unit.PerSecond, Higher, Percent, Main,
		"datagrams that the receiver got per second", oneWay, onlyUDP, remoteEnd, perSecond(remoteEnd, messages)},
	{Loss, Local, unit.Share, Lower, Difference, NonZero,
		"requests of the window that were never answered", pingPong, datagrams, localEnd, requestLoss},
	{Loss, Remote, unit.Share, Lower, Difference, Main,
		"datagrams of the window that never came, the last ones included", oneWay, onlyUDP, localEnd, streamLoss},
	{Offered, Local, unit.BitsPerSecond, Higher, Percent, Main,
		"payload that the sender handed to its kernel, which loss is a share of", oneWay, onlyUDP, localEnd, perSecond(localEnd, payloadBits)},
	{Retransmits, Local, unit.PerSecond, Lower, Difference, NonZero,
		"segments sent again per second", oneWay, onlyTCP, localEnd, perSecond(localEnd, counted("retransmits"))},
	{Duplicates, Remote, unit.Share, Lower, Difference, NonZero,
		"datagrams received more than once", oneWay, onlyUDP, localEnd, shareReceived("duplicates")},
	{Reordered, Remote, unit.Share, Lower, Difference, NonZero,
		"datagrams received after a later one", oneWay, onlyUDP, localEnd, shareReceived("reordered")},
	{Offered, Local, unit.BitsPerSecond, Higher, Percent, Detail,
		"payload that the sender handed to its kernel", oneWay, onlyTCP, localEnd, perSecond(localEnd, payloadBits)},
	{RTTMin, Local, unit.Nanoseconds, Lower, Percent, Detail,
		"shortest round trip", pingPong, nil, localEnd, quantile(RTTMin, 0)},
	{RTTMean, Local, unit.Nanoseconds, Lower, Percent, Detail,
		"mean round trip", pingPong, nil, localEnd, meanRTT},
	{RTTP90, Local, unit.Nanoseconds, Lower, Percent, Detail,
		"round trip that 1 in 10 exceeds", pingPong, nil, localEnd, quantile(RTTP90, 0.9)},
	{RTTP999, Local, unit.Nanoseconds, Lower, Percent, Detail,
		"round trip that 1 in 1000 exceeds", pingPong, nil, localEnd, quantile(RTTP999, 0.999)},
	{RTTMax, Local, unit.Nanoseconds, Lower, Percent, Detail,
		"longest round trip", pingPong, nil, localEnd, quantile(RTTMax, 1)},
}

// Definitions returns the metrics of one kind of test in the order in which
// reports show them: those that matter most first.
func Definitions(k spec.Kind) []Definition {
	var of []Definition
	for _, d := range definitions {
		if slices.Contains(d.patterns, k.Pattern) && (d.protocols == nil || slices.Contains(d.protocols, k.Protocol)) {
			of = append(of, d)
		}
	}
	return of
}

// DefinitionOf returns the definition of a metric for one kind of test.
func DefinitionOf(k spec.Kind, metric string) (Definition, bool) {
	of := Definitions(k)
	i := slices.IndexFunc(of, func(d Definition) bool { return d.Name == metric })
	if i < 0 {
		return Definition{}, false
	}
	return of[i], true
}

// Derive computes every metric of the trial's test from what the two ends
// counted. A metric that the counts don't support is left out, and a warning
// says why. All values are finite and none is negative.
func (t *Trial) Derive() ([]Metric, []Warning) {
	var metrics []Metric
	var missing []Warning
	kind, ok := spec.KindOf(t.Test.Name)
	if !ok {
		return nil, []Warning{{Code: "unknown-test", Text: "the test is not one of this program's"}}
	}
	for _, d := range Definitions(kind) {
		value, why := d.derive(t)
		if why == nil {
			why = t.broken(d.window(t))
		}
		if why != nil {
			if why.Metric == "" {
				why.Metric = d.Name
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

// broken says why nothing that an end counted in its window is a figure, if
// the window was less than half as long as planned. A shorter one makes a
// figure noisier, and the engine's own warning says so; one that is broken is
// of another part of the traffic than its pair's, such as the beginning alone.
func (t *Trial) broken(e *End) *Warning {
	if e == nil || t.Window == 0 || e.Elapsed >= t.Window/2 {
		return nil
	}
	return &Warning{Code: shortWindow, Advice: "look at the link for what kept the traffic back, or measure for longer (--time)",
		Text: fmt.Sprintf("the %s end's window lasted %v of %v, less than half", e.Role, e.Elapsed, t.Window)}
}

func (t *Trial) withWarnings(missing []Warning) []Warning {
	sources := [][]Warning{t.Warnings, t.Local.Warnings}
	if t.Remote != nil {
		remote := t.Remote.Warnings
		if t.Test.Kind().Pattern == spec.RoundTrip {
			// The local end sets the pace and ends it; no metric of a round
			// trip is taken in the remote end's window.
			remote = slices.DeleteFunc(slices.Clone(remote), func(w Warning) bool { return w.Code == shortWindow })
		}
		sources = append(sources, remote)
	}
	var all []Warning
	for _, w := range slices.Concat(append(sources, missing, t.unaccountedFor())...) {
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}
