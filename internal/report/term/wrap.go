package term

import (
	"regexp"
	"strings"
	"unicode"

	"charm.land/lipgloss/v2"

	"netdelta/internal/report/text"
)

// clean is any text on one line, with nothing in it that a terminal acts on: control
// characters, those that turn the direction of writing, and those that take no room.
func (l Look) clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r) || r == unicode.ReplacementChar:
			return '?'
		case l.ASCII && r > '~':
			return inASCII(r)
		}
		return r
	}, s)
}

// width is how many columns a text takes.
func width(s string) int { return lipgloss.Width(s) }

// clip cuts a text without colours to a width and marks the cut.
func clip(s string, most int) string {
	if width(s) <= most {
		return s
	}
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n+width(string(r)) > most-1 {
			break
		}
		n += width(string(r))
		b.WriteRune(r)
	}
	if most > 0 {
		b.WriteByte('~')
	}
	return b.String()
}

// wrap breaks a text at its blanks; a word that is too long for a line is cut.
func (p *page) wrap(s, first, rest string) []string {
	most := min(p.look.Width, widestText)
	var lines []string
	line, empty := first, true
	flush := func() {
		lines = append(lines, line)
		line, empty = rest, true
	}
	for _, word := range strings.Fields(p.look.clean(s)) {
		if !empty && width(line)+1+width(word) > most {
			flush()
		}
		if !empty {
			line += " "
		}
		for _, r := range word {
			if width(line)+width(string(r)) > most && width(line) > width(rest) {
				flush()
			}
			line += string(r)
			empty = false
		}
	}
	if !empty {
		flush()
	}
	return lines
}

// verdicts are the words of an answer that stand out.
var verdicts = regexp.MustCompile(`\b(better|worse|failed)\b`)

// items are sentences and lists as the text has them.
func (p *page) items(all []text.Item, answer bool) []string {
	var lines []string
	for _, i := range all {
		first, rest := i.Indents()
		for n, line := range p.wrap(i.Text, first, rest) {
			switch {
			case answer:
				line = verdicts.ReplaceAllStringFunc(line, func(word string) string { return p.look.verdict(word, word) })
			case i.Kind == text.Title:
				line = p.look.title(line)
			case n == 0 && (i.Kind == text.General || i.Kind == text.Particular):
				line = p.look.caution(line[:1]) + line[1:]
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// Columns of a list of facts.
const (
	longestName = 26
	shareOfName = 3 // of the page's width, the names take no more than one in that many
)

// facts are names with what they are.
func (p *page) facts(part text.Part) []string {
	most := min(longestName, p.look.Width/shareOfName)
	names := 0
	for _, f := range part.Facts {
		if n := width(p.look.clean(f.Name)); n <= most {
			names = max(names, n)
		}
	}
	var lines []string
	for _, f := range part.Facts {
		name := clip(p.look.clean(f.Name), p.look.Width-8)
		pad := strings.Repeat(" ", max(names-width(name), 0)+2)
		value := p.wrap(f.Value, "  "+name+pad, strings.Repeat(" ", names+4))
		if len(value) == 0 {
			value = []string{"  " + name}
		}
		lines = append(lines, value...)
	}
	return lines
}

// command is a command that can be pasted: it is one line, however wide, since a
// terminal breaks it by itself and copies it whole.
func (p *page) command(s string) []string { return []string{"$ " + p.look.clean(s)} }
