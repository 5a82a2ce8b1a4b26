package result

import (
	"fmt"
	"math"
	"slices"

	"netdelta/internal/unit"
)

// Codes of the guards: what a trial's own record says against its figures.
// docs/guards.md tells of each what it means and what to do.
const (
	GuardToolBound       = "tool-bound"
	GuardCPUSaturated    = "cpu-saturated"
	GuardCPUContended    = "cpu-contended"
	GuardSteal           = "steal"
	GuardPageFaults      = "page-faults"
	GuardBusyBefore      = "busy-before"
	GuardCoarseCPU       = "coarse-cpu"
	GuardFrequency       = "frequency"
	GuardThrottled       = "throttled"
	GuardClockStep       = "clock-step"
	GuardLinkFlap        = "link-flap"
	GuardOffloadChanged  = "offload-changed"
	GuardInterfaceErrors = "interface-errors"
	GuardInterfaceDrops  = "interface-drops"
	GuardQdiscDrops      = "qdisc-drops"
	GuardSoftnetDrops    = "softnet-drops"
	GuardSoftnetSqueezed = "softnet-squeezed"
	GuardOtherTraffic    = "other-traffic"
	GuardReceiverLimited = "receiver-limited"
	GuardSndbufLimited   = "sndbuf-limited"
	GuardZeroCopied      = "zerocopy-copied"
	GuardLinkSaturated   = "link-saturated"
	GuardAboveLineRate   = "above-line-rate"
	GuardRateHeld        = "rate-held"
	GuardOneMachine      = "one-machine"
)

// guard is a row of the table of guards: something that an end's counters can
// show, and one thing to do about it.
type guard struct {
	code   string
	advice string
	check  func(*Trial, *End) *finding
}

// finding is what a guard saw at one end: a text that begins in the middle of
// a sentence, with a %s for each figure. Words are the same from trial to trial
// and only figures differ, so that a report can tell of many trials in one
// line.
type finding struct {
	form    string
	figures []string
}

func found(form string, figures ...string) *finding { return &finding{form, figures} }

// guardTable is every guard that looks at one end, in the order in which
// warnings are told. A new guard is a row here and a check.
var guardTable = slices.Concat(cpuGuards, pathGuards, flowGuards)

// guards are the warnings of all guards. What an end did not count warns of
// nothing.
func (t *Trial) guards() []Warning {
	if t.unavailable() != nil {
		return nil
	}
	all := append(t.oneMachine(), t.speedGuards()...)
	for _, g := range guardTable {
		var local, remote *finding
		if local = g.check(t, &t.Local); t.Remote != nil {
			remote = g.check(t, t.Remote)
		}
		all = append(all, g.warnings(local, remote)...)
	}
	return append(all, t.soakWarnings()...)
}

// warnings tells what was found at the ends: in one warning where it is the
// same but for the figures.
func (g *guard) warnings(local, remote *finding) []Warning {
	tell := func(at, form string, figures []string) Warning {
		args := make([]any, len(figures))
		for i, f := range figures {
			args[i] = f
		}
		return Warning{Code: g.code, Text: "at " + at + " " + fmt.Sprintf(form, args...), Advice: g.advice}
	}
	if local != nil && remote != nil && local.form == remote.form && len(local.figures) == len(remote.figures) {
		both := make([]string, len(local.figures))
		for i := range both {
			both[i] = local.figures[i] + " and " + remote.figures[i]
		}
		return []Warning{tell("both ends", local.form, both)}
	}
	var all []Warning
	for _, at := range []struct {
		name string
		*finding
	}{{"the local end", local}, {"the remote end", remote}} {
		if at.finding != nil {
			all = append(all, tell(at.name, at.form, at.figures))
		}
	}
	return all
}

// OneKind says whether a report may tell warnings of a code that have the same
// advice, of several trials of a test, as one: those of a guard, which says the
// same of whichever end.
func OneKind(code string) bool {
	return slices.ContainsFunc(guardTable, func(g guard) bool { return g.code == code && g.code != GuardOffloadChanged })
}

// oneMachine says what figures of two ends on one machine are.
func (t *Trial) oneMachine() []Warning {
	if t.Remote == nil || t.Remote.Counters == nil || !t.onOneMachine() {
		return nil
	}
	if asked, _ := t.Local.Counters.Asked(SourceCPU); !asked {
		return nil
	}
	text := "both ends and the link between them share the CPUs of one machine: full speed is what those can do, and CPU figures of an end are of the CPUs that it is bound to"
	if t.Remote.Counters.Shared {
		text = "both ends and the link between them share the CPUs of one machine: full speed is what those can do, and CPU figures of the local end are of all CPUs, and so of both ends"
	}
	return []Warning{{Code: GuardOneMachine, Text: text,
		Advice: "compare variants with each other, and measure between two hosts to know what one host pays"}}
}

// onOneMachine says that the trial's ends are known to share a machine, whose
// CPUs then carry both ends and the link between them.
func (t *Trial) onOneMachine() bool {
	return t.Local.Counters != nil && t.Local.Counters.OneMachine
}

// warned says that the trial's record has a warning of that code already.
func (t *Trial) warned(code string) bool {
	return slices.ContainsFunc(t.Warnings, func(w Warning) bool { return w.Code == code })
}

// around is a source's reading of the whole trial, or of the window where that
// is all there is.
func around(e *End, source string) *Reading {
	if r := e.Counters.WholeReading(source); r != nil {
		return r
	}
	return e.Counters.Reading(source)
}

// rose is what a reading counted; 0 for what did not rise.
func (r *Reading) rose(name string) int64 {
	if r == nil {
		return 0
	}
	return r.Counts[name]
}

// stood is a level at the beginning and at the end; ok if it stood at both.
func (r *Reading) stood(name string) (was, is int64, ok bool) {
	if r == nil {
		return 0, 0, false
	}
	is, ok = r.Levels[name]
	if was, changed := r.Was[name]; changed {
		return was, is, ok
	}
	return is, is, ok
}

// part is a count of nanoseconds as a share of the time that was read.
func (r *Reading) part(ns int64) float64 {
	if r == nil || r.Elapsed <= 0 {
		return 0
	}
	return float64(ns) / float64(r.Elapsed)
}

// inPercent is a share in whole percents, of which small ones keep a digit.
func inPercent(share float64) string {
	v := 100 * share
	if v < 2 {
		return fmt.Sprintf("%.1f%%", v)
	}
	return fmt.Sprintf("%.0f%%", math.Min(v, 1e6))
}

// inBits is a rate of bits per second in a readable unit.
func inBits(v float64) string { return unit.Format(v, unit.BitsPerSecond) }

// inDuration is a number of nanoseconds in a readable unit.
func inDuration(ns int64) string { return unit.Format(float64(ns), unit.Nanoseconds) }

// ratio is a / b, 0 where b is no whole to be a part of.
func ratio(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return a / b
}
