package result

import (
	"fmt"
	"slices"
	"time"

	"netdelta/internal/unit"
)

// Names of the sources of counters, each a place where a host tells what it
// does. Package counters has the table of them and the names of what each
// counts.
const (
	SourceCPU        = "cpu"        // time by kind, in ticks
	SourceIdle       = "idle"       // time that each CPU was idle, exactly
	SourceThreads    = "threads"    // the worker's own threads
	SourceInterrupts = "interrupts" // by line and CPU
	SourceSoftirqs   = "softirqs"   // by kind and CPU
	SourceSoftnet    = "softnet"    // the queues between interface and protocol
	SourceDevice     = "device"     // the interface of the path
	SourceDriver     = "driver"     // what its driver counts
	SourceQdisc      = "qdisc"      // its queueing disciplines
	SourceSNMP       = "snmp"       // IP, UDP, TCP of the network namespace
	SourceTCPInfo    = "tcp_info"   // the test's own connections
	SourceSockets    = "sockets"    // drops and memory of the test's own sockets
	SourceFrequency  = "frequency"  // the CPUs' clocks
	SourceClock      = "clock"      // the machine's time
	SourceCycles     = "cycles"     // cycles and instructions, by perf events
	SourceBPF        = "bpf"        // softirqs, NAPI and wake-ups, exactly, by eBPF
	SourceQueues     = "queues"     // what waits in sockets and interface, within the window
	SourceSoak       = "soak"       // CPU time that an idle-priority loop still got
)

// Levels of SourceQueues: each is a queue, with what of it is told behind the name.
const (
	QueueUnsent   = "unsent"   // data of connections that waits in the socket to be sent
	QueueSent     = "sent"     // sent and not acknowledged; of datagrams what is still the socket's
	QueueReceived = "received" // in receive buffers
	QueueBacklog  = "backlog"  // behind a socket that a program holds
	QueueCwnd     = "cwnd"     // the congestion windows
	QueueQdisc    = "qdisc"
	QueueSoftnet  = "softnet" // in packets

	QueueMean    = "_mean"
	QueueMax     = "_max"
	QueueMilli   = "_mean_milli" // a mean in thousandths
	QueueSamples = "samples"
)

// Counters is what the host of one end counted around that end's window: from
// just before it opened until it was over. Each source was read at moments of
// its own, so that a rate is a count over the reading's own Elapsed.
type Counters struct {
	Readings []Reading `json:"readings,omitempty"`
	// Whole are readings around the whole trial, from before the first message
	// until the drain is over.
	Whole []Reading `json:"whole,omitempty"`
	// Baseline is what the CPUs did without the test, shortly before it;
	// readings of SourceCPU and SourceIdle.
	Baseline []Reading `json:"baseline,omitempty"`
	// Missing are the sources that were asked for and could not be read: each
	// with the reason.
	Missing []Fact `json:"missing,omitempty"`
	// CPUs are the ones that figures of CPU time are of, in ascending order:
	// all of the machine's, or, where both ends share one machine, those that
	// this end's threads are bound to.
	CPUs []int `json:"cpus,omitempty"`
	// OneMachine says that both ends share this machine. Shared says that they
	// share its CPUs too, and that this end's figures are not told apart from
	// the other's: the local end's are then of both.
	OneMachine bool `json:"one_machine,omitempty"`
	Shared     bool `json:"shared,omitempty"`
	// Device is the interface that has the end's address on the path; empty
	// where none was found.
	Device string `json:"device,omitempty"`
}

// Reading is what one source counted between two moments.
type Reading struct {
	Source  string        `json:"source"`
	Elapsed time.Duration `json:"elapsed_ns"`
	// Counts are what rose in the meantime. One that did not rise is left out.
	Counts map[string]int64 `json:"counts,omitempty"`
	// Levels are what stood at the end (a speed, a queue's length), and Was
	// what had stood at the beginning where that was something else.
	Levels map[string]int64 `json:"levels,omitempty"`
	Was    map[string]int64 `json:"was,omitempty"`
}

// Reading returns what a source counted around the window, nil if it was not
// read. It may be asked of nil.
func (c *Counters) Reading(source string) *Reading {
	if c == nil {
		return nil
	}
	return readingOf(c.Readings, source)
}

// WholeReading is the same around the whole trial.
func (c *Counters) WholeReading(source string) *Reading {
	if c == nil {
		return nil
	}
	return readingOf(c.Whole, source)
}

// Asked says whether a source was asked for, and why it was not had if it was
// not.
func (c *Counters) Asked(source string) (asked bool, why string) {
	if c.Reading(source) != nil {
		return true, ""
	}
	if c != nil {
		for _, f := range c.Missing {
			if f.Name == source {
				return true, f.Value
			}
		}
	}
	return false, ""
}

func readingOf(readings []Reading, source string) *Reading {
	i := slices.IndexFunc(readings, func(r Reading) bool { return r.Source == source })
	if i < 0 {
		return nil
	}
	return &readings[i]
}

// Bounds of what a host may send. A machine with 512 CPUs and as many interrupt
// lines stays far below them.
const (
	maxReadings     = 64
	maxReadingNames = 200_000
)

// validate reports the first thing in the counters that no host could have
// counted.
func (c *Counters) validate() error {
	if c == nil {
		return nil
	}
	for _, part := range []struct {
		name     string
		readings []Reading
	}{{"window", c.Readings}, {"trial", c.Whole}, {"baseline", c.Baseline}} {
		if len(part.readings) > maxReadings {
			return fmt.Errorf("counters of the %s: %d readings are more than %d", part.name, len(part.readings), maxReadings)
		}
		for i := range part.readings {
			if err := part.readings[i].validate(); err != nil {
				return fmt.Errorf("counters of the %s: %w", part.name, err)
			}
		}
	}
	if len(c.Missing) > maxReadings {
		return fmt.Errorf("counters: %s are more than %d", unit.Count(len(c.Missing), "missing source"), maxReadings)
	}
	for _, cpu := range c.CPUs {
		if cpu < 0 {
			return fmt.Errorf("counters: CPU %d can't be", cpu)
		}
	}
	return nil
}

func (r *Reading) validate() error {
	if r.Source == "" {
		return fmt.Errorf("a reading without a source")
	}
	if r.Elapsed < 0 {
		return fmt.Errorf("source %q: a time of %v is negative", shorten(r.Source), r.Elapsed)
	}
	if n := len(r.Counts) + len(r.Levels) + len(r.Was); n > maxReadingNames {
		return fmt.Errorf("source %q: %d names are more than %d", shorten(r.Source), n, maxReadingNames)
	}
	if name, below := belowZero(r.Counts); below {
		return fmt.Errorf("source %q: count %q is %d, which is negative", shorten(r.Source), shorten(name), r.Counts[name])
	}
	return nil
}
