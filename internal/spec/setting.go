package spec

import (
	"fmt"
	"slices"
)

// Ends of a setting. Both is the same at either end.
const (
	EndLocal  = "local"
	EndRemote = "remote"
	EndBoth   = "both"
)

// Setting is one thing that a level of a factor sets to one value.
type Setting struct {
	// End is where it is made: EndLocal, EndRemote or EndBoth.
	End string `json:"end"`
	// Knob names a row of the table of knobs, with what the row takes behind a
	// dot: "gro", "coalesce.rx-usecs", "sysctl.net.core.busy_poll", "param.send".
	Knob string `json:"knob"`
	// Device is the interface, where the knob is one of an interface's; empty for
	// the one that the path takes at that end.
	Device string `json:"device,omitempty"`
	// Value is the value in the knob's words: "on", "64", "0-1".
	Value string `json:"value,omitempty"`
	// Command is what the knob "command" runs, with sh -c.
	Command *Command `json:"command,omitempty"`
}

// Command is a change that only its user knows: what makes it, what undoes it,
// and what tells (by exit status 0) that it is made. Restore and Check may be
// empty.
type Command struct {
	Apply   string `json:"apply"`
	Restore string `json:"restore,omitempty"`
	Check   string `json:"check,omitempty"`
}

// Scope says who carries a knob out.
type Scope int

const (
	// OnDevice and OnHost are made by the end's agent: of one interface, and of
	// the whole host or its network namespace.
	OnDevice Scope = iota
	OnHost
	// OnCommand is made by the end's agent, by running what the user gave.
	OnCommand
	// OnWorker is how the end's worker runs: where its threads are bound.
	OnWorker
	// OnTest is a parameter of the tests.
	OnTest
	// OnLink is how a lab's link is made.
	OnLink
)

// ByAgent says that an end's agent makes such settings, and puts them back.
func (s Scope) ByAgent() bool { return s == OnDevice || s == OnHost || s == OnCommand }

// Knob describes one thing that can be set: a row of the table of knobs. Package
// knob has what carries out those of a host.
type Knob struct {
	Name  string
	Scope Scope
	// Arg is what stands behind the name and a dot, as a form ("NAME"); empty for
	// nothing.
	Arg string
	// Form is how values are written ("on|off", "USEC", "CPUS").
	Form  string
	About string
	// checkArg reports what is wrong with what stands behind the name, and check
	// what is with a value, without looking at any host.
	checkArg func(arg string) error
	check    func(arg, value string) error
}

// Knobs returns the table of knobs.
func Knobs() []Knob { return slices.Clone(knobs) }

// Row returns the setting's row of the table, and what stands behind its name.
func (s Setting) Row() (Knob, string, error) { return knobOf(s.Knob) }

// At says whether the setting is made at that end, EndLocal or EndRemote.
func (s Setting) At(end string) bool { return s.End == end || s.End == EndBoth }

// String is the setting as a user writes it: "eth0.gro@remote=on".
func (s Setting) String() string {
	if s.Command != nil {
		return fmt.Sprintf("%s=%q", s.Reference(), s.Command.Apply)
	}
	return s.Reference() + "=" + s.Value
}

// Scoped returns the settings of any level whose scope is wanted, in the order of
// the plan's factors and levels.
func (p *Plan) Scoped(want func(Scope) bool) []Setting {
	var all []Setting
	for _, f := range p.Factors {
		for _, l := range f.Levels {
			for _, s := range f.Settings[l] {
				if row, _, err := s.Row(); err == nil && want(row.Scope) {
					all = append(all, s)
				}
			}
		}
	}
	return all
}

// SettingsOf returns what a variant sets, in the order of the plan's factors.
func (p *Plan) SettingsOf(v Variant) []Setting {
	var all []Setting
	for _, f := range p.Factors {
		all = append(all, f.Settings[v[f.Name]]...)
	}
	return all
}
