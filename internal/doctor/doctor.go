// Package doctor finds what of a host would spoil a measurement, by facts of
// the host and a short look at what it does while nothing is measured. It
// changes nothing: what mends a finding is a command for people to read.
package doctor

import (
	"cmp"
	"slices"

	"netdelta/internal/result"
)

// Schema names the version of a report's JSON form.
const Schema = "netdelta.doctor/1"

// Path is the end of what belongs to both ends or to what is between them.
const Path = "path"

// Host is what is known of one end.
type Host struct {
	End     string // result.Local or result.Remote
	Name    string // as people call the host
	Version string // of netdelta there; may be empty
	Facts   []result.Fact
	// Look is what the host did while nothing was measured; nil where it could
	// not be looked at, and then Unseen says why.
	Look   *result.Counters
	Unseen string
	// Device is the interface of the path; empty where there is no path or it
	// is not known, and then all are examined.
	Device string
}

// Input is what is to be judged.
type Input struct {
	// Hosts are one, or the two ends of a path.
	Hosts []Host
	// Loopback says that the path does not leave its host.
	Loopback bool
}

// Finding is one thing that would spoil a measurement.
type Finding struct {
	Code string `json:"code"`
	End  string `json:"end"` // result.Local, result.Remote or Path
	// Weight says how much it would, from 1 (hardly) to 100 (all of it).
	Weight int `json:"weight"`
	// Device is the interface that it is about; empty where it is about none.
	Device  string `json:"device,omitempty"`
	What    string `json:"what"`               // as it is
	Why     string `json:"why"`                // what that does to figures
	HowMuch string `json:"how_much,omitempty"` // as far as it is known here
	// Command mends it, run as root there; empty where no command can, and
	// then Advice says what could.
	Command string `json:"command,omitempty"`
	Advice  string `json:"advice,omitempty"`
}

// Level is a finding's weight in a word.
func (f *Finding) Level() string {
	switch {
	case f.Weight >= Severe:
		return "severe"
	case f.Weight >= Serious:
		return "serious"
	case f.Weight >= Minor:
		return "minor"
	}
	return "note"
}

// Weights from which a finding has a level.
const (
	Severe  = 70 // figures say something else than they seem to
	Serious = 40 // differences that matter drown, or come of something else
	Minor   = 20
)

// End is what became of one end.
type End struct {
	End     string `json:"end"`
	Host    string `json:"host,omitempty"`
	Version string `json:"netdelta,omitempty"`
	Device  string `json:"device,omitempty"`
	// LookedNS is for how long the host was looked at; 0 where it was not.
	LookedNS int64 `json:"looked_ns"`
	// Fine is what was looked at and found fine, Unknown what could not be
	// told there; in the table's order.
	Fine    []string `json:"fine"`
	Unknown []string `json:"unknown"`
	Unseen  string   `json:"unseen,omitempty"` // why it was not looked at
}

// Report is what was found, with what matters most first.
type Report struct {
	Schema   string    `json:"schema"`
	Ends     []End     `json:"ends"`
	Findings []Finding `json:"findings"`
}

// Examine applies every rule to every end, and those of the path.
func Examine(in Input) Report {
	r := Report{Schema: Schema, Findings: []Finding{}, Ends: []End{}}
	for i := range in.Hosts {
		h := &in.Hosts[i]
		v := newView(h, &in)
		e := End{End: h.End, Host: h.Name, Version: h.Version, Device: h.Device, Unseen: h.Unseen, Fine: []string{}, Unknown: []string{}}
		if h.Look != nil {
			for _, reading := range h.Look.Readings {
				e.LookedNS = max(e.LookedNS, int64(reading.Elapsed))
			}
		}
		for _, rule := range rules {
			found, known := rule.check(v)
			r.add(rule.code, h.End, found)
			switch {
			case len(found) > 0:
			case known:
				e.Fine = append(e.Fine, rule.about)
			default:
				e.Unknown = append(e.Unknown, rule.about)
			}
		}
		r.Ends = append(r.Ends, e)
	}
	for _, rule := range pathRules {
		r.add(rule.code, Path, rule.check(&in))
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return cmp.Compare(b.Weight, a.Weight) })
	return r
}

func (r *Report) add(code, end string, found []Finding) {
	for _, f := range found {
		f.Code, f.End, f.Weight = code, end, min(max(f.Weight, 1), 100)
		r.Findings = append(r.Findings, f)
	}
}

// At returns the findings of one end, with what matters most first.
func (r *Report) At(end string) []Finding {
	var all []Finding
	for _, f := range r.Findings {
		if f.End == end {
			all = append(all, f)
		}
	}
	return all
}
