package markdown

import (
	"strings"
	"unicode"
)

// plain is any text on one line: what does not print is left out, and all blanks are
// one.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r) || r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// marked are the characters that can begin markup in the midst of a line.
const marked = "\\`*[]<>|~&$"

// escaped is a text that reads as it is in the midst of a line, in a cell too: no
// emphasis, no code, no link, no HTML, no entity, no formula.
func escaped(s string) string {
	runes := []rune(plain(s))
	var b strings.Builder
	for i, r := range runes {
		before := i > 0 && isWord(runes[i-1])
		after := i+1 < len(runes) && isWord(runes[i+1])
		switch {
		case strings.ContainsRune(marked, r),
			r == '_' && !(before && after), // within a word it is only itself
			r == '/' && i > 0 && runes[i-1] == ':',
			r == '.' && i >= 3 && strings.EqualFold(string(runes[i-3:i]), "www"):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// paragraph is a text that may stand at the beginning of a line: no heading, no list,
// no rule there either.
func paragraph(s string) string {
	s = escaped(s)
	if s == "" {
		return s
	}
	if strings.IndexByte("#-+=", s[0]) >= 0 {
		return `\` + s
	}
	digits := 0
	for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
		digits++
	}
	if digits > 0 && digits < len(s) && (s[digits] == '.' || s[digits] == ')') {
		return s[:digits] + `\` + s[digits:]
	}
	return s
}

// html is a text within HTML of ours.
func html(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(plain(s))
}

// code is a command in a block of its own, whose fence nothing in it can end.
func code(s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
	return fence + "sh\n" + s + "\n" + fence
}
