package findings

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// putIn is the factor whose levels are what the wire puts in: "none", "delay-20us",
// "loss-1/100", "duplicate-1/50", "reorder-1/50", "rate-100Mbit/s".
const putIn = "put-in"

// put is one level of that factor.
type put struct {
	in                 *Input
	level, what, value string
	variants           []spec.Variant
	none               string // the level in which the wire puts nothing in; empty for no such
}

// truths is the table of what a wire can put in, by the level's first word.
var truths = map[string]func(*put) []compare.Check{
	"none":      (*put).untouched,
	"delay":     (*put).delayed,
	"loss":      (*put).lost,
	"duplicate": (*put).duplicated,
	"reorder":   (*put).reordered,
	"rate":      (*put).limited,
	"busy":      (*put).kept,
}

// Truth holds what was found against what the wire put in.
func Truth(in *Input) {
	if !in.usable() {
		return
	}
	puts := putsOf(in)
	if len(puts) == 0 {
		return
	}
	first := len(in.Report.Checks)
	for i := range puts {
		in.Report.Checks = append(in.Report.Checks, puts[i].checks()...)
	}
	in.Report.Findings = append(in.Report.Findings, verdictOn(in.Report.Checks[first:])...)
	if s := wireTimes(puts); len(s.Rows) > 0 {
		in.Report.Sections = append(in.Report.Sections, s)
	}
}

// putsOf are the levels of the factor, in the plan's order.
func putsOf(in *Input) []put {
	f := in.factor(putIn)
	if f == nil {
		return nil
	}
	var puts []put
	none := ""
	for _, level := range f.Levels {
		what, value, _ := strings.Cut(spec.BaseLevel(level), "-")
		if what == "none" && none == "" {
			none = level
		}
		puts = append(puts, put{in: in, level: level, what: what, value: value, variants: in.having(spec.Variant{putIn: level})})
	}
	for i := range puts {
		puts[i].none = none
	}
	return puts
}

// made are the level's trials of a test.
func (p *put) made(test spec.Test) []*result.Trial { return p.in.made(test, p.variants) }

// checks are what there is to check of a level, at least one.
func (p *put) checks() []compare.Check {
	check := truths[p.what]
	if check == nil {
		return []compare.Check{{Name: p.level, Text: fmt.Sprintf("%q is nothing that can be checked", p.level)}}
	}
	if all := append(check(p), p.staged()...); len(all) > 0 {
		return all
	}
	return []compare.Check{{Name: p.level, Text: "no test that would show it was run"}}
}

// unread is the check of a level whose value makes no sense.
func (p *put) unread(err error) []compare.Check {
	return []compare.Check{{Name: p.level, Text: fmt.Sprintf("what the level %q puts in can't be read: %v", p.level, err)}}
}

// verdictOn says how many of the checks passed, and of the others what was found in
// place of what was put in.
func verdictOn(checks []compare.Check) []string {
	var wrong, unsure, unknown []string
	for i := range checks {
		switch c := &checks[i]; {
		case c.Pass:
		case c.Found == nil:
			unknown = append(unknown, fmt.Sprintf("%s (%s)", c.Name, c.Text))
		case c.Unsure:
			unsure = append(unsure, failedBy(c))
		default:
			wrong = append(wrong, failedBy(c))
		}
	}
	passed := len(checks) - len(wrong) - len(unsure) - len(unknown)
	if passed == len(checks) {
		return []string{fmt.Sprintf("All %d of %d found: what the report says is what the wire put in.", passed, len(checks))}
	}
	all := []string{fmt.Sprintf("%d of %d found.", passed, len(checks))}
	if len(wrong) > 0 {
		all = append(all, "Not found: "+strings.Join(wrong, "; ")+".")
	}
	if len(unsure) > 0 {
		all = append(all, "Not sure, since the interval holds what would pass: "+strings.Join(unsure, "; ")+".")
	}
	if len(unknown) > 0 {
		all = append(all, "Not known: "+strings.Join(unknown, "; ")+".")
	}
	return all
}

// failedBy says by how much a check failed, and what is known of why.
func failedBy(c *compare.Check) string {
	off := *c.Found - c.Wanted
	text := fmt.Sprintf("%s, put in %s, found %s, off by %s where %s is let pass",
		c.Name, amount(c.Wanted, c.Unit), amount(*c.Found, c.Unit), amount(off, c.Unit), amount(c.Within, c.Unit))
	if c.Text != "" {
		text += " (" + c.Text + ")"
	}
	return text
}

// amount is a figure of a check with its unit. Frames are whole: no digit of theirs
// is rounded off.
func amount(v float64, u unit.Unit) string {
	if u == frames {
		return fmt.Sprintf("%.0f %s", v, frames)
	}
	return unit.Format(v, u)
}

// frames is the unit of checks that count.
const frames unit.Unit = "frames"

// troubles are warnings of trials that say why a wire may have kept its times badly,
// or an end have fallen behind.
var troubles = []string{"cpu-contended", "oversubscribed", "cpu-saturated", "own-cpu", "steal"}

// trouble says what of that was said of trials; empty for nothing.
func trouble(trials []*result.Trial) string {
	said := map[string]int{}
	for _, t := range trials {
		var codes []string
		for _, w := range t.AllWarnings() {
			if slices.Contains(troubles, w.Code) && !slices.Contains(codes, w.Code) {
				codes = append(codes, w.Code)
				said[w.Code]++
			}
		}
	}
	var parts []string
	for _, code := range troubles {
		if said[code] > 0 {
			parts = append(parts, fmt.Sprintf("%s in %d of %s", code, said[code], unit.Count(len(trials), "trial")))
		}
	}
	return strings.Join(parts, ", ")
}

// joinTexts puts together what there is to say, without what is empty.
func joinTexts(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}
