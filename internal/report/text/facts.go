package text

import (
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
)

// maxFactName keeps one long name from pushing all values to the right.
const maxFactName = 20

// facts is the machine, a line each.
func facts(r *compare.Report) []string {
	title := "Machine"
	if r.Pairing == compare.Unpaired {
		title = "The same in all runs, at both ends where none is named"
	}
	var names, values []string
	for _, f := range r.Environment {
		names, values = append(names, f.Name), append(values, f.Value)
	}
	return list(title, names, values)
}

// differs is what separate runs don't have in common, which is often the
// answer to why they differ.
func differs(r *compare.Report) []string {
	if r.Pairing == compare.Unpaired && len(r.EnvironmentDiff) == 0 {
		unknown := func(w result.Warning) bool { return w.Code == "environment-unknown" }
		if slices.ContainsFunc(r.Warnings, unknown) {
			return nil
		}
		return []string{"Nothing that is kept about either end changed between these runs."}
	}
	var names, values []string
	for _, c := range r.EnvironmentDiff {
		names = append(names, c.End+" "+c.Name)
		values = append(values, known(c.Old)+" -> "+known(c.New))
	}
	return list("Between these runs, this changed as well", names, values)
}

func known(value string) string {
	if value == "" {
		return "(none)"
	}
	return value
}

// list is names with their values under a title; nothing if there are none.
func list(title string, names, values []string) []string {
	if len(names) == 0 {
		return nil
	}
	width := 0
	for _, name := range names {
		width = max(width, len(clip(ascii(name), maxFactName)))
	}
	lines := []string{title}
	for i, name := range names {
		name = clip(ascii(name), maxFactName)
		indent := strings.Repeat(" ", 2+width+2)
		lines = append(lines, wrap(values[i], "  "+name+indent[2+len(name):], indent)...)
	}
	return lines
}

// command is how the run was started, so that it can be pasted into a shell:
// a line that goes on ends with a backslash. A word that is too long for a line
// is cut; where that is within quotes, they end with the line and begin again,
// for within them a backslash is only a backslash.
func command(r *compare.Report) []string {
	var lines []string
	if r.Version != "" {
		lines = wrap("netdelta "+r.Version, "", "  ")
	}
	if r.Command == "" {
		return lines
	}
	line := "$"
	for _, word := range shellWords(ascii(r.Command)) {
		// There has to be room for the backslash.
		if len(line)+1+len(word) > Width-2 && line != "$" {
			lines = append(lines, line+" \\")
			line = " "
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
