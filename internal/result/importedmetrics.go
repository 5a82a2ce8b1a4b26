package result

import (
	"slices"

	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// Names of metrics that only imports have. Those that have the same meaning as
// ours have the same name.
const (
	// Throughput is bits per second where the program does not say of which end.
	Throughput = "throughput"
	// HalfRTTMean and those after it are half of a round trip, which some programs
	// call latency.
	HalfRTTMean   = "half_rtt_mean"
	HalfRTTMin    = "half_rtt_min"
	HalfRTTP25    = "half_rtt_p25"
	HalfRTTP50    = "half_rtt_p50"
	HalfRTTP75    = "half_rtt_p75"
	HalfRTTP90    = "half_rtt_p90"
	HalfRTTP99    = "half_rtt_p99"
	HalfRTTP999   = "half_rtt_p999"
	HalfRTTP9999  = "half_rtt_p9999"
	HalfRTTP99999 = "half_rtt_p99999"
	HalfRTTMax    = "half_rtt_max"
	HalfRTTStddev = "half_rtt_stddev"
	RTTP25        = "rtt_p25"
	RTTP75        = "rtt_p75"
	RTTP9999      = "rtt_p9999"
	RTTP99999     = "rtt_p99999"
	RTTStddev     = "rtt_stddev"
	// Jitter is the smoothed variation of transit times (RFC 1889, A.8).
	Jitter = "jitter"
	// Retransmitted is segments sent again in the whole test, a number.
	Retransmitted = "retransmitted"
	// Messages is messages or datagrams per second at the end that tells of them.
	Messages = "messages"
	// CPUUtil is the share of a host's CPU time that was not idle, and CPUProcess that
	// of one CPU that the program itself took.
	CPUUtil    = "cpu_util"
	CPUProcess = "cpu_process"
)

// importedMetrics is the table of what imports can have, in the order in which
// reports show them; what is not in it follows.
var importedMetrics = []Definition{
	{Name: Goodput, Unit: unit.BitsPerSecond, Better: Higher, Scale: Percent, Rank: Headline, About: "what the receiver got"},
	{Name: Throughput, Unit: unit.BitsPerSecond, Better: Higher, Scale: Percent, Rank: Headline, About: "bits per second, of which end is not said"},
	{Name: Rate, Unit: unit.PerSecond, Better: Higher, Scale: Percent, Rank: Headline, About: "round trips or connections per second"},
	{Name: RTTMean, Unit: unit.Nanoseconds, Better: Lower, Scale: Percent, Rank: Headline, About: "mean round trip"},
	{Name: HalfRTTMean, Unit: unit.Nanoseconds, Better: Lower, Scale: Percent, Rank: Headline, About: "half of the mean round trip"},
	{Name: RTTMin, Unit: unit.Nanoseconds, Better: Lower, Scale: Percent, Rank: Detail, About: "shortest round trip"},
	{Name: RTTP25, Unit: unit.Nanoseconds, Better: Lower, Scale: Percent, Rank: Detail, About: "round trip that 3 in 4 exceed"},
	{Name: RTTP50, Unit: unit.Nanoseconds, Better: Lower, Scale: Percent, Rank: Main, About: "median round trip"},
	{Name: RTTP75, Unit: unit.Nanoseconds, Better: Lower, Scale: Percent, Rank: Detail, About: "round trip that 1 in 4 exceeds"},
	{Name: RTTP90, Unit: unit.Nanoseconds, Better: Lower, Scale: Percent, Rank: Detail, About: "round trip that 1 in 10 exceeds"},
	{Name: RTTP99, Unit: unit.Nanoseconds, Better: Lower, Scale: Percent, Rank: Main, About: "round trip that 1 in 100 exceeds"},
	{Name: RTTP999, Unit: unit.Nanoseconds, Better: Lower, Scale: Percent, Rank: Main, About: "round trip that 1 in 1000 exceeds"},
	{Name: RTTP9999, Unit: unit.Nanoseconds, Better: Lower, Scale: Percent, Rank: Detail, About: "round trip that 1 in 10,000 exceeds"},
	{Name: RTTP99999, Unit: unit.Nanoseconds, Better: Lower, Scale: Percent, Rank: Detail, About: "round trip that 1 in 100,000 exceeds"},
	{Name: RTTMax, Unit: unit.Nanoseconds, Better: Lower, Scale: Percent, Rank: Main, About: "longest round trip"},
	{Name: RTTStddev, Unit: unit.Nanoseconds, Better: Lower, Scale: Difference, Rank: Main, About: "standard deviation of the round trips"},
	{Name: HalfRTTMin, Unit: unit.Nanoseconds, Better: Lower, Scale: Percent, Rank: Detail, About: "half of the shortest round trip"},
	{Name: HalfRTTP25, Unit: unit.Nanoseconds, Better: Lower, Scale: Percent, Rank: Detail, About: "half of the round trip that 3 in 4 exceed"},
	{Name: HalfRTTP50, Unit: unit.Nanoseconds, Better: Lower, Scale: Percent, Rank: Main, About: "half of the median round trip"},
	{Name: HalfRTTP75, Unit: unit.Nanoseconds, Better: Lower, Scale: Percent, Rank: Detail, About: "half of the round trip that 1 in 4 exceeds"},
	{Name: HalfRTTP90, Unit: unit.Nanoseconds, Better: Lower, Scale: Percent, Rank: Detail, About: "half of the round trip that 1 in 10 exceeds"},
	{Name: HalfRTTP99, Unit: unit.Nanoseconds, Better: Lower, Scale: Percent, Rank: Main, About: "half of the round trip that 1 in 100 exceeds"},
	{Name: HalfRTTP999, Unit: unit.Nanoseconds, Better: Lower, Scale: Percent, Rank: Main, About: "half of the round trip that 1 in 1000 exceeds"},
	{Name: HalfRTTP9999, Unit: unit.Nanoseconds, Better: Lower, Scale: Percent, Rank: Detail, About: "half of the round trip that 1 in 10,000 exceeds"},
	{Name: HalfRTTP99999, Unit: unit.Nanoseconds, Better: Lower, Scale: Percent, Rank: Detail, About: "half of the round trip that 1 in 100,000 exceeds"},
	{Name: HalfRTTMax, Unit: unit.Nanoseconds, Better: Lower, Scale: Percent, Rank: Main, About: "half of the longest round trip"},
	{Name: HalfRTTStddev, Unit: unit.Nanoseconds, Better: Lower, Scale: Difference, Rank: Main, About: "standard deviation of half the round trips"},
	{Name: Offered, Unit: unit.BitsPerSecond, Better: Higher, Scale: Percent, Rank: Main, About: "what the sender handed to its kernel"},
	{Name: Packets, Unit: unit.PerSecond, Better: Higher, Scale: Percent, Rank: Main, About: "packets per second at the receiver"},
	{Name: Messages, Unit: unit.PerSecond, Better: Higher, Scale: Percent, Rank: Main, About: "messages per second"},
	{Name: Loss, Unit: unit.Share, Better: Lower, Scale: Difference, Rank: Main, About: "share that never came, as the program counts"},
	{Name: Duplicates, Unit: unit.Share, Better: Lower, Scale: Difference, Rank: NonZero, About: "share that came more than once"},
	{Name: Reordered, Unit: unit.Share, Better: Lower, Scale: Difference, Rank: NonZero, About: "share that came after a later one"},
	{Name: Jitter, Unit: unit.Nanoseconds, Better: Lower, Scale: Difference, Rank: Main, About: "smoothed variation of transit times"},
	{Name: Retransmitted, Unit: unit.Number, Better: Lower, Scale: Difference, Rank: Main, About: "segments sent again in the whole test"},
	{Name: CPU, Unit: unit.SecondsPerSecond, Better: Lower, Scale: Difference, Rank: Main, About: "CPU seconds per second"},
	{Name: CPUUtil, Unit: unit.Share, Better: Lower, Scale: Percent, Rank: Main, About: "share of a host's CPU time that was not idle"},
	{Name: CPUProcess, Unit: unit.Share, Better: Lower, Scale: Percent, Rank: Main, About: "share of one CPU that the program itself took"},
	{Name: CPUPerByte, Unit: unit.SecondsPerByte, Better: Lower, Scale: Percent, Rank: Main, About: "CPU time for each byte"},
	{Name: CPUPerOp, Unit: unit.SecondsPerOp, Better: Lower, Scale: Percent, Rank: Main, About: "CPU time for each round trip"},
	{Name: InterruptsPerPacket, Unit: unit.PerPacket, Better: Lower, Scale: Percent, Rank: Main, About: "interrupts for each packet"},
}

func importedPlace(metric string) int {
	i := slices.IndexFunc(importedMetrics, func(d Definition) bool { return d.Name == metric })
	if i < 0 {
		return len(importedMetrics)
	}
	return i
}

// ImportedMetric is a figure of one of the metrics that imports can have, in the
// metric's unit. It panics on a name that is not in the table.
func ImportedMetric(name, end string, value float64, text string, line int) ImportedFigure {
	d := importedMetrics[importedPlace(name)]
	return ImportedFigure{Metric: name, End: end, Unit: d.Unit, Better: d.Better, Value: value, Text: text, Line: line}
}

// definition is the figure's metric: of the table, or its own.
func (f *ImportedFigure) definition() Definition {
	d := importedDefinition(f.Metric, f.End)
	d.Unit, d.Better = f.Unit, f.Better
	return d
}

// importedDefinition is that of a metric by its name. One that nobody knows is
// shown, and compared by its ratio.
func importedDefinition(metric, end string) Definition {
	d := Definition{Name: metric, Scale: Percent, Rank: Main}
	if i := importedPlace(metric); i < len(importedMetrics) {
		d = importedMetrics[i]
	}
	d.End = end
	return d
}

// isImported says that a test is none of this program's.
func isImported(t spec.Test) bool {
	_, ours := spec.KindOf(t.Name)
	return !ours
}

// ImportedKnown is a metric of those that imports can have, without its end; false for
// a name that is not in the table.
func ImportedKnown(name string) (Definition, bool) {
	i := importedPlace(name)
	if i == len(importedMetrics) {
		return Definition{}, false
	}
	return importedMetrics[i], true
}
