package run

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// Codes of the warnings that the coordinator gives.
const (
	CodeOversubscribed = "oversubscribed"
	CodeClockStep      = "clock-step"
	CodeCounterReset   = "counter-reset"
	CodeOverrun        = "window-overrun"
	CodeLoopback       = "loopback"
	CodeRepeated       = "repeated"
	CodeMTU            = "mtu"
	CodeBlocked        = "blocked"
	CodeUnavailable    = result.Unavailable
)

// stepTolerance is how far the wall clock may move against the monotonic one
// within a trial. Slewing moves both alike (adjtimex(2)); a step moves only
// the wall clock.
const stepTolerance = time.Millisecond

// reading is both clocks at one moment.
type reading struct {
	wall time.Time     // without a monotonic part
	mono time.Duration // since the run began
}

// read reads both clocks. The runtime reads one after the other, and a thread
// that loses its CPU in between would look like a step: such a reading, which
// shows by the time since the one before, is made again.
func read(began time.Time) reading {
	var r reading
	for range 5 {
		before := time.Now()
		now := time.Now()
		r = reading{wall: now.Round(0), mono: now.Sub(began)}
		if now.Sub(before) < stepTolerance/10 {
			break
		}
	}
	return r
}

// clockStep warns if the wall clock was set between two readings.
func clockStep(a, b reading) []result.Warning {
	step := b.wall.Sub(a.wall) - (b.mono - a.mono)
	if step.Abs() <= stepTolerance {
		return nil
	}
	return []result.Warning{{
		Code:   CodeClockStep,
		Text:   fmt.Sprintf("the wall clock moved by %v against the monotonic one within a trial", step.Round(time.Microsecond)),
		Advice: "the machine's clock was set, or a virtual machine was resumed: see that its time is settled before a run (timedatectl, chronyc tracking)",
	}}
}

// oversubscribed warns if a trial's threads on this machine that can be busy at
// once are more than the CPUs that can be used. All tests have the same text, so
// that a report can tell it once; variants with other threads of the link do not.
func oversubscribed(cpus int, p *Path, t spec.Test) []result.Warning {
	threads := t.EndThreads() + len(p.BusyThreads)
	if p.OneMachine && hasRemote(t) {
		threads += t.EndThreads()
	}
	names := append([]string{"the test's own"}, p.BusyThreads...)
	if threads <= cpus {
		return nil
	}
	return []result.Warning{{
		Code:   CodeOversubscribed,
		Text:   fmt.Sprintf("the threads that can be busy at once (%s) are more than the %s", strings.Join(names, ", "), unit.Count(cpus, "usable CPU")),
		Advice: "figures include the threads' waiting for one another, which is part of a change where one variant has more of them: compare only figures of the same machine, or use one with more CPUs",
	}}
}

// overrun warns if an end's window lasted more than half as long again as it
// should have. Its rates are those of the real length all the same.
func overrun(e *result.End, window time.Duration) []result.Warning {
	if e == nil || e.Elapsed <= window+window/2 {
		return nil
	}
	return []result.Warning{{
		Code:   CodeOverrun,
		Text:   fmt.Sprintf("the %s end's window lasted %v rather than %v", e.Role, e.Elapsed.Round(time.Millisecond), window),
		Advice: "the path stalled (a TCP timeout, for instance) or the traffic thread could not run: look at the link's drops and at what else runs, or take longer windows",
	}}
}

// deltas is what the link counted between two readings. A counter that went
// backwards was reset meanwhile, and is left out with a warning.
func deltas(before, after map[string]int64) (map[string]int64, []result.Warning) {
	if len(after) == 0 {
		return nil, nil
	}
	d := make(map[string]int64, len(after))
	var reset []string
	for name, n := range after {
		if n < before[name] {
			reset = append(reset, name)
			continue
		}
		d[name] = n - before[name]
	}
	if len(reset) == 0 {
		return d, nil
	}
	slices.Sort(reset)
	return d, []result.Warning{{
		Code:   CodeCounterReset,
		Text:   fmt.Sprintf("counters of the link went backwards within a trial: %s", strings.Join(reset, ", ")),
		Advice: "the link was made anew or reset by something else: leave it alone while a run is under way",
	}}
}

// Loopback is the warning that the two ends' addresses are of one host.
func Loopback(local, remote netip.Addr) result.Warning {
	who := fmt.Sprintf("%v and %v are addresses of one host", local, remote)
	if local == remote {
		who = fmt.Sprintf("both ends have the address %v", local)
	}
	return result.Warning{
		Code:   CodeLoopback,
		Text:   fmt.Sprintf("the route is loopback: %s, and no network device is measured", who),
		Advice: "run the far end on another host, or in a network namespace of its own (netdelta lab makes one)",
	}
}

// loopback warns if the addresses alone show that the ends are on one host.
func loopback(p peers) []result.Warning {
	local, remote := p.local.Addr().Unmap(), p.remote.Addr().Unmap()
	if local == remote || local.IsLoopback() || remote.IsLoopback() {
		return []result.Warning{Loopback(local, remote)}
	}
	return nil
}

// repeated is the warning of a trial that succeeded at its second attempt.
func repeated(first error) result.Warning {
	return result.Warning{Code: CodeRepeated, Text: "a first attempt at the trial failed: " + first.Error()}
}
