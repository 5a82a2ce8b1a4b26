package text

import "strings"

// ascii makes any text printable ASCII on one line: white space becomes a
// blank, and every other character that is not printable ASCII a question
// mark.
func ascii(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case r < ' ' || r > '~':
			return '?'
		}
		return r
	}, s)
}

// wrap breaks text into lines of at most Width columns at its blanks, the
// first line after the indent first, the others after rest. A word that is
// too long for a line of its own is cut into pieces.
func wrap(text, first, rest string) []string {
	var lines []string
	line, empty := first, true
	flush := func() {
		lines = append(lines, strings.TrimRight(line, " "))
		line, empty = rest, true
	}
	for _, word := range strings.Fields(ascii(text)) {
		if !empty && len(line)+1+len(word) > Width {
			flush()
		}
		for len(line)+len(word) > Width && empty {
			room := Width - len(line)
			line += word[:room]
			word = word[room:]
			flush()
		}
		if word == "" {
			continue
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	if !empty || len(lines) == 0 {
		flush()
	}
	return lines
}

// clip cuts text to a width and marks the cut.
func clip(s string, width int) string {
	if len(s) <= width {
		return s
	}
	if width < 1 {
		return ""
	}
	return s[:width-1] + "~"
}
