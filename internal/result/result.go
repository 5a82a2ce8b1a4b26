// Package result is the record of a trial: what was run, what each end
// measured, and what was wrong with it; with a versioned codec. A record
// holds raw figures and whole histograms, never only summaries.
package result

import (
	"time"

	"netdelta/internal/hist"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// Schema names the version of a trial's JSON form. The second one has what the
// hosts counted; one of the first is read as one in which they were not asked.
const (
	Schema      = "netdelta.trial/2"
	firstSchema = "netdelta.trial/1"
)

// The two ends of a test: Local starts it.
const (
	Local  = "local"
	Remote = "remote"
)

// Metric names, as in reports and their JSON form.
const (
	RTTMin  = "rtt_min"
	RTTP50  = "rtt_p50"
	RTTP90  = "rtt_p90"
	RTTP99  = "rtt_p99"
	RTTP999 = "rtt_p999"
	RTTMax  = "rtt_max"
	RTTMean = "rtt_mean"
	// Rate is round trips per second at the local end.
	Rate = "rate"
	// Goodput is payload bits per second that the receiver got.
	Goodput = "goodput"
	// Offered is payload bits per second that the sender handed to its kernel.
	Offered = "offered"
	// Packets is datagrams per second at the receiver.
	Packets = "packets"
	// Loss is the share of the window's requests or datagrams that never came.
	Loss = "loss"
	// Duplicates and Reordered are shares of the datagrams received.
	Duplicates = "duplicates"
	Reordered  = "reordered"
	// Retransmits is TCP segments sent again within the window, per second.
	Retransmits = "retransmits"
	// ZeroCopied is the share of sends without copying that the kernel copied
	// all the same.
	ZeroCopied = "zerocopy_copied"
	// Missed is the share of an open loop's slots in which nothing was sent.
	Missed = "missed"
	// CPU is seconds of CPU time per second that the end's host, or the part
	// of it that is the end's, took beyond its idle baseline; the next two are
	// that for each byte of payload and each round trip.
	CPU        = "cpu"
	CPUPerByte = "cpu_per_byte"
	CPUPerOp   = "cpu_per_op"
	// CPUSoak and those after it are the same as a calibrated loop of idle
	// priority saw it.
	CPUSoak        = "cpu_soak"
	CPUSoakPerByte = "cpu_soak_per_byte"
	CPUSoakPerOp   = "cpu_soak_per_op"
	// CPUThreads and those after it are of the worker's own threads alone: what their
	// system calls take, with softirqs that come in between, and nothing of the wire
	// or of kernel threads.
	CPUThreads        = "cpu_threads"
	CPUThreadsPerByte = "cpu_threads_per_byte"
	CPUThreadsPerOp   = "cpu_threads_per_op"
	// CyclesPerByte and CyclesPerOp are CPU cycles.
	CyclesPerByte = "cycles_per_byte"
	CyclesPerOp   = "cycles_per_op"
	// InterruptsPerPacket is of the interface's own lines, SoftirqsPerPacket of
	// NET_RX and NET_TX.
	InterruptsPerPacket = "interrupts_per_packet"
	// Interrupts is those interrupts per second, and InterfacePackets the packets
	// that the interface sent and received per second.
	Interrupts        = "interrupts"
	InterfacePackets  = "interface_packets"
	SoftirqsPerPacket = "softirqs_per_packet"
	// BytesPerPacket is of what crosses the receiver's interface, headers
	// included; BytesPerSegment is payload of the segments that TCP counted.
	BytesPerPacket  = "bytes_per_packet"
	BytesPerSegment = "bytes_per_segment"
	// ContextSwitchesPerOp and WakeupsPerOp are the host's for each round trip.
	ContextSwitchesPerOp = "context_switches_per_op"
	WakeupsPerOp         = "wakeups_per_op"
	// RunDelay is seconds per second that the traffic threads were ready to run
	// and had no CPU.
	RunDelay = "run_delay"
	// Unaccounted is the share of a trial's datagrams that no counter has.
	Unaccounted = "unaccounted"
	// LoadGoodput is payload bits per second of the stream beside a test.
	LoadGoodput = "load_goodput"
)

// Better says which direction of a metric is an improvement.
type Better string

const (
	Lower  Better = "lower"
	Higher Better = "higher"
)

// Metric is one named figure of a trial, in the unit's base (ns, bit/s, 1/s).
type Metric struct {
	Name   string    `json:"metric"`
	End    string    `json:"end"`
	Unit   unit.Unit `json:"unit"`
	Better Better    `json:"better"`
	Value  float64   `json:"value"`
}

// Taken is which figure a metric is: one of a name can be taken at both ends.
type Taken struct{ Name, End string }

// Taken says which figure it is.
func (m Metric) Taken() Taken { return Taken{m.Name, m.End} }

// About says that the warning is about that figure, alone or among others.
func (w Warning) About(t Taken) bool {
	return w.Metric == "" || w.Alone(t)
}

// Alone says that the warning is about that figure and no other metric.
func (w Warning) Alone(t Taken) bool { return w.Metric == t.Name && (w.End == "" || w.End == t.End) }

// Warning is a reason not to take a figure at its word. It is data: a code
// for programs, a text for people, and what can be done about it.
type Warning struct {
	Code   string `json:"code"`
	Text   string `json:"text"`
	Advice string `json:"advice,omitempty"`
	// Metric is the one that it is about; empty where it is about all. End is
	// where that is taken, if the test has it at both.
	Metric string `json:"metric,omitempty"`
	End    string `json:"end,omitempty"`
}

// End is what one end of a trial measured, by its own clock.
type End struct {
	Role string `json:"role"` // Local or Remote
	// Elapsed is the length of the window that this end really had.
	Elapsed time.Duration `json:"elapsed_ns"`
	// Messages and Bytes are payload counted within the window: sent by a
	// sender, received by a receiver, completed round trips for both in rr.
	Messages int64 `json:"messages"`
	Bytes    int64 `json:"bytes"`
	// Counts are named counters of the engine ("lost", "sent", "unique",
	// "late", "retransmits" and so on); package traffic lists them.
	Counts map[string]int64 `json:"counts,omitempty"`
	// RTT has one sample for each round trip of the window, in ns, and one for
	// each late answer (Counts["late"]): a request of the window that was given
	// up after its timeout and answered all the same. Messages has only the
	// former.
	RTT *hist.Hist `json:"rtt,omitempty"`
	// Each has the first round trips of the window in their order, in ns, as many as
	// the plan asks for; a request that was given up is -1.
	Each []int64 `json:"each_ns,omitempty"`
	// Seen is where the time of some round trips went; nil where none were watched.
	Seen *Seen `json:"seen,omitempty"`
	// Intervals divide the window; none where none were asked for.
	Intervals []Interval `json:"intervals,omitempty"`
	// Counters are what the end's host counted meanwhile; nil if it was not
	// asked to.
	Counters *Counters `json:"counters,omitempty"`
	// Warnings are what this end noticed (a refused mlockall, say).
	Warnings []Warning `json:"warnings,omitempty"`
}

// Trial is one execution of one test under one variant.
type Trial struct {
	Schema  string       `json:"schema"`
	Block   int          `json:"block"`
	Order   int          `json:"order"` // place in the order in which trials ran
	Attempt int          `json:"attempt"`
	Variant spec.Variant `json:"variant"`
	Test    spec.Test    `json:"test"`
	Start   time.Time    `json:"start"`
	// Warmup and Window are the lengths that were planned; 0 where that is not
	// known, as in an import.
	Warmup time.Duration `json:"warmup_ns,omitempty"`
	Window time.Duration `json:"window_ns,omitempty"`
	// Changes are what was set for the trial's variant before it, and for those
	// that it shares a path with: only what was another way before.
	Changes []Change `json:"changes,omitempty"`
	Local   End      `json:"local"`
	Remote  *End     `json:"remote,omitempty"` // nil where the kernel answers
	Path    Path     `json:"path"`
	// Imported is there where another program made the test: the two ends and the
	// path then have nothing.
	Imported *Imported `json:"imported,omitempty"`
	Warnings []Warning `json:"warnings,omitempty"`
}

// Path is what the link between the ends counted while the trial ran; zero
// where there is no link of our own.
type Path struct {
	Counts map[string]int64 `json:"counts,omitempty"`
}
