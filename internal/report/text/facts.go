package text

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/unit"
)

// maxFactName keeps one long name from pushing all values to the right; a
// longer one pushes its own, up to maxLongName.
const (
	maxFactName = 20
	maxLongName = 50
)

// facts is the machine, a line each.
func facts(r *compare.Report) []string {
	title, all, more := machine(r)
	return append(list(title, all), lay(further(more))...)
}

// machine is its facts but the details, of which more says how many there are.
func machine(r *compare.Report) (title string, all []result.Fact, more int) {
	title = "Machine"
	if r.Separate() {
		title = "The same in all runs, at both ends where none is named"
	}
	for _, f := range r.Environment {
		if result.DetailFact(f.Name) {
			more++
			continue
		}
		all = append(all, f)
	}
	return title, all, more
}

// further says how many facts are left out of a text.
func further(n int) []Item {
	if n == 0 {
		return nil
	}
	return []Item{{Text: fmt.Sprintf("(%s: --format json)", unit.Count(n, "further fact")), first: "  ", rest: "  "}}
}

// differs is what separate runs don't have in common, which is often the
// answer to why they differ.
func differs(r *compare.Report) []string {
	none, changed := differences(r)
	return append(lay(none), list(changedTitle, changed)...)
}

const changedTitle = "Between these runs, this changed as well"

// differences are what changed, or that nothing did.
func differences(r *compare.Report) (none []Item, changed []result.Fact) {
	if r.Posted {
		return nil, postedDiffers(r)
	}
	if r.Separate() && len(r.EnvironmentDiff) == 0 {
		unknown := func(w result.Warning) bool { return w.Code == "environment-unknown" }
		if slices.ContainsFunc(r.Warnings, unknown) {
			return nil, nil
		}
		return items("Nothing that is kept about either end changed between these runs."), nil
	}
	if onlyBoots(r.EnvironmentDiff) {
		return items("Nothing that is kept about either end changed between these runs but for the boot: a machine was booted in between."), nil
	}
	for i, c := range r.EnvironmentDiff {
		end := c.End
		if twin := slices.IndexFunc(r.EnvironmentDiff, func(o compare.FactChange) bool { return atOtherEnd(c, o) }); twin >= 0 {
			if twin < i {
				continue // told with the first of the two
			}
			end = "both ends'"
		}
		changed = append(changed, result.Fact{Name: end + " " + c.Name, Value: known(c.Old) + " -> " + known(c.New)})
	}
	return nil, changed
}

// atOtherEnd says that the same changed at the other end in the same way.
func atOtherEnd(a, b compare.FactChange) bool {
	ends := a.End == result.Local && b.End == result.Remote || a.End == result.Remote && b.End == result.Local
	return ends && a.Name == b.Name && a.Old == b.Old && a.New == b.New
}

func onlyBoots(changes []compare.FactChange) bool {
	return len(changes) > 0 && !slices.ContainsFunc(changes, func(c compare.FactChange) bool { return c.Name != result.FactBoot })
}

func known(value string) string {
	if value == "" {
		return "(none)"
	}
	return value
}

// list is facts under a title; nothing if there are none.
func list(title string, facts []result.Fact) []string {
	if len(facts) == 0 {
		return nil
	}
	width := 0
	for _, f := range facts {
		if n := len(ascii(f.Name)); n <= maxFactName {
			width = max(width, n)
		}
	}
	lines := []string{title}
	for _, f := range facts {
		name := clip(ascii(f.Name), maxLongName)
		pad := max(width+2-len(name), 2)
		indent := strings.Repeat(" ", 2+width+2)
		lines = append(lines, wrap(f.Value, "  "+name+strings.Repeat(" ", pad), indent)...)
	}
	return lines
}

// command is how the run was started, so that it can be pasted into a shell.
func command(r *compare.Report) []string {
	var lines []string
	if r.Version != "" {
		lines = wrap("netdelta "+r.Version, "", "  ")
	}
	if r.Command == "" {
		return lines
	}
	return append(lines, shellLines(r.Command, "$", " ")...)
}

// shellLines is a command as it can be pasted into a shell, behind a prompt and
// the further lines' beginning: a line that goes on ends with a backslash. A
// word that is too long for a line is cut; where that is within quotes, they
// end with the line and begin again, for within them a backslash is only a
// backslash.
func shellLines(command, prompt, further string) (lines []string) {
	line := prompt
	for _, word := range shellWords(ascii(command)) {
		// There has to be room for the backslash.
		if len(line)+1+len(word) > Width-2 && line != prompt {
			lines = append(lines, line+" \\")
			line = further
		}
		line += " "
		var quotes quotes
		for i := range len(word) {
			if room := Width - len("'\\"); len(line) >= room && len(line)+len(word)-i > Width && !quotes.escaped {
				lines = append(lines, line+quotes.mark()+"\\")
				line = quotes.mark()
			}
			line += word[i : i+1]
			quotes.pass(word[i])
		}
	}
	// A word ends with a blank only where its quotes never close, in a record
	// that somebody else made.
	return append(lines, strings.TrimRight(line, " "))
}

// quotes says whether a place in a command is within single quotes, or behind a
// backslash outside of them.
type quotes struct{ within, escaped bool }

func (q *quotes) pass(c byte) {
	switch {
	case q.escaped:
		q.escaped = false
	case c == '\'':
		q.within = !q.within
	case c == '\\':
		q.escaped = !q.within
	}
}

func (q *quotes) mark() string {
	if q.within {
		return "'"
	}
	return ""
}

// shellWords cuts a command at the blanks that are not within single quotes,
// which is how commands are quoted here.
func shellWords(command string) []string {
	var q quotes
	return strings.FieldsFunc(command, func(r rune) bool {
		q.pass(byte(r)) // ASCII
		return r == ' ' && !q.within
	})
}
