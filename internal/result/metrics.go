package result

import (
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
	protocols []spec.Protocol      // nil for all
	of        func(spec.Test) bool // tests of these; nil for all
	window    whichEnd             // the end in whose window it is counted
	derive    derivation
	need      need
}

// need says whether a test that lacks a figure has a row for it all the same.
type need bool

const (
	// required figures are of what every trial counts.
	required need = false
	// optional ones are of what a host counts only where it is asked to and can:
	// Present leaves those out that no trial tells of.
	optional need = true
)

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
// them. A new metric is a row here and, at most, a derivation. Those of cost and
// of where datagrams went follow in tables of their own: costs and losses.
var definitions = []Definition{
	{RTTP50, Local, unit.Nanoseconds, Lower, Percent, Headline,
		"median round trip", timed, nil, nil, localEnd, quantile(RTTP50, 0.5), required},
	{RTTP99, Local, unit.Nanoseconds, Lower, Percent, Main,
		"round trip that 1 in 100 exceeds", timed, nil, nil, localEnd, quantile(RTTP99, 0.99), required},
	{Rate, Local, unit.PerSecond, Higher, Percent, Main,
		"round trips completed per second", timed, nil, nil, localEnd, perSecond(localEnd, messages), required},
	{Goodput, Remote, unit.BitsPerSecond, Higher, Percent, Headline,
		"payload that the remote end received", forth, nil, nil, receiving(remoteEnd), perSecond(receiving(remoteEnd), sent), required},
	{Goodput, Local, unit.BitsPerSecond, Higher, Percent, Headline,
		"payload that the local end received", []spec.Pattern{spec.Reverse}, nil, nil, receiving(localEnd), perSecond(receiving(localEnd), sent), required},
	{Goodput, Local, unit.BitsPerSecond, Higher, Percent, Main,
		"payload that the local end received", []spec.Pattern{spec.Duplex}, nil, nil, receiving(localEnd), perSecond(receiving(localEnd), sent), required},
	{Packets, Remote, unit.PerSecond, Higher, Percent, Main,
		"datagrams that the receiver got per second", forth, onlyUDP, nil, remoteEnd, perSecond(remoteEnd, messages), required},
	{Loss, Local, unit.Share, Lower, Difference, NonZero,
		"requests of the window that were never answered", answered, datagrams, nil, localEnd, requestLoss, required},
	{Loss, Remote, unit.Share, Lower, Difference, Main,
		"datagrams of the window that never came, the last ones included", forth, onlyUDP, nil, localEnd, streamLoss, required},
	{Offered, Local, unit.BitsPerSecond, Higher, Percent, Main,
		"payload that the sender handed to its kernel, which loss is a share of", forth, onlyUDP, nil, localEnd, perSecond(localEnd, sent), required},
	{Retransmits, Local, unit.PerSecond, Lower, Difference, NonZero,
		"segments that the local end sent again per second", forth, onlyTCP, nil, localEnd, perSecond(localEnd, counted("retransmits")), required},
	{Retransmits, Remote, unit.PerSecond, Lower, Difference, NonZero,
		"segments that the remote end sent again per second", back, onlyTCP, nil, remoteEnd, perSecond(remoteEnd, counted("retransmits")), required},
	{Duplicates, Remote, unit.Share, Lower, Difference, NonZero,
		"datagrams received more than once", forth, onlyUDP, nil, localEnd, shareReceived("duplicates"), required},
	{Reordered, Remote, unit.Share, Lower, Difference, NonZero,
		"datagrams received after a later one", forth, onlyUDP, nil, localEnd, shareReceived("reordered"), required},
	{ZeroCopied, Local, unit.Share, Lower, Difference, Main,
		"sends without copying that the kernel copied all the same", forth, nil, zeroCopy, localEnd, copied(localEnd), required},
	{ZeroCopied, Remote, unit.Share, Lower, Difference, Main,
		"sends without copying that the kernel copied all the same", back, nil, zeroCopy, remoteEnd, copied(remoteEnd), required},
	{Missed, Local, unit.Share, Lower, Difference, Main,
		"slots of the given rate in which nothing was sent", paced, nil, spec.Test.OpenLoop, localEnd, missed(localEnd), required},
	{Missed, Remote, unit.Share, Lower, Difference, Main,
		"slots of the given rate in which nothing was sent", []spec.Pattern{spec.Reverse}, nil, spec.Test.OpenLoop, remoteEnd, missed(remoteEnd), required},
	{LoadGoodput, Remote, unit.BitsPerSecond, Higher, Percent, Main,
		"payload that the remote end received of the stream beside", answered, nil, loadForth, beside(remoteEnd), loadBits(remoteEnd), required},
	{LoadGoodput, Local, unit.BitsPerSecond, Higher, Percent, Main,
		"payload that the local end received of the stream beside", answered, nil, loadBack, beside(localEnd), loadBits(localEnd), required},
	{Offered, Local, unit.BitsPerSecond, Higher, Percent, Detail,
		"payload that the local end handed to its kernel", forth, onlyTCP, nil, localEnd, perSecond(localEnd, sent), required},
	{Offered, Remote, unit.BitsPerSecond, Higher, Percent, Detail,
		"payload that the remote end handed to its kernel", back, onlyTCP, nil, remoteEnd, perSecond(remoteEnd, sent), required},
	{RTTMin, Local, unit.Nanoseconds, Lower, Percent, Detail,
		"shortest round trip", timed, nil, nil, localEnd, quantile(RTTMin, 0), required},
	{RTTMean, Local, unit.Nanoseconds, Lower, Percent, Detail,
		"mean round trip", timed, nil, nil, localEnd, meanRTT, required},
	{RTTP90, Local, unit.Nanoseconds, Lower, Percent, Detail,
		"round trip that 1 in 10 exceeds", timed, nil, nil, localEnd, quantile(RTTP90, 0.9), required},
	{RTTP999, Local, unit.Nanoseconds, Lower, Percent, Detail,
		"round trip that 1 in 1000 exceeds", timed, nil, nil, localEnd, quantile(RTTP999, 0.999), required},
	{RTTMax, Local, unit.Nanoseconds, Lower, Percent, Detail,
		"longest round trip", timed, nil, nil, localEnd, quantile(RTTMax, 1), required},
}

// tables are all the tables of metrics.
var tables = slices.Concat(definitions, costs, losses)

// Definitions returns the metrics of a test in the order in which reports show
// them: those that matter most first.
func Definitions(t spec.Test) []Definition {
	k, ok := spec.KindOf(t.Name)
	if !ok {
		return nil
	}
	of := make([]Definition, 0, len(tables)/2)
	for _, d := range tables {
		if slices.Contains(d.patterns, k.Pattern) && (d.protocols == nil || slices.Contains(d.protocols, k.Protocol)) &&
			(d.of == nil || d.of(t)) {
			of = append(of, d)
		}
	}
	return of
}

// DefinitionOf returns the definition of a metric, taken at that end, for a
// test. Of a test that another program made it knows every metric.
func DefinitionOf(t spec.Test, metric, end string) (Definition, bool) {
	if isImported(t) {
		return importedDefinition(metric, end), true
	}
	of := Definitions(t)
	i := slices.IndexFunc(of, func(d Definition) bool { return d.Name == metric && d.End == end })
	if i < 0 {
		return Definition{}, false
	}
	return of[i], true
}
