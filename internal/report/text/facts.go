package text

import (
	"strings"

	"netdelta/internal/compare"
)

// maxFactName keeps one long name from pushing all values to the right.
const maxFactName = 20

// facts is the machine, a line each.
func facts(r *compare.Report) []string {
	if len(r.Environment) == 0 {
		return nil
	}
	width := 0
	for _, f := range r.Environment {
		width = max(width, len(clip(ascii(f.Name), maxFactName)))
	}
	lines := []string{"Machine"}
	for _, f := range r.Environment {
		name := clip(ascii(f.Name), maxFactName)
		indent := strings.Repeat(" ", 2+width+2)
		lines = append(lines, wrap(f.Value, "  "+name+indent[2+len(name):], indent)...)
	}
	return lines
}

// command is how the run was started, so that it can be pasted into a shell:
// a line that goes on ends with a backslash.
func command(r *compare.Report) []string {
	var lines []string
	if r.Version != "" {
		lines = wrap("netdelta "+r.Version, "", "  ")
	}
	if r.Command == "" {
		return lines
	}
	// wrap needs room for the backslash; it is the words' own to give.
	words := strings.Fields(ascii(r.Command))
	line := "$"
	for _, word := range words {
		if len(line)+1+len(word) > Width-2 && line != "$" {
			lines = append(lines, line+" \\")
			line = " "
		}
		line += " " + word
		for len(line) > Width {
			lines = append(lines, line[:Width-1]+"\\")
			line = line[Width-1:]
		}
	}
	return append(lines, line)
}
