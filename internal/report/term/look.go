package term

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Colours by their numbers among the 256 of terminals (xterm): blue and orange stay
// apart for those who don't tell red from green. None of them says anything that a
// word or a sign does not say as well.
type palette struct{ good, bad, note, quiet string }

var (
	onDark  = palette{good: "75", bad: "208", note: "220", quiet: "245"}
	onLight = palette{good: "25", bad: "166", note: "94", quiet: "242"}
)

func (l Look) palette() palette {
	if l.Dark {
		return onDark
	}
	return onLight
}

// paint colours a text, if the terminal has colours.
func (l Look) paint(color, s string) string {
	if !l.Color || strings.TrimSpace(s) == "" {
		return s
	}
	return lipgloss.NewStyle().Foreground(lipgloss.Color(color)).Inline(true).Render(s)
}

func (l Look) title(s string) string {
	if !l.Color || s == "" {
		return s
	}
	return lipgloss.NewStyle().Bold(true).Inline(true).Render(s)
}

func (l Look) caution(s string) string { return l.paint(l.palette().note, s) }
func (l Look) quiet(s string) string   { return l.paint(l.palette().quiet, s) }

// verdict colours a text by what it says.
func (l Look) verdict(word, s string) string {
	switch word {
	case "better", "pass":
		return l.paint(l.palette().good, s)
	case "worse", "failed", "FAIL":
		return l.paint(l.palette().bad, s)
	case "same":
		return l.quiet(s)
	}
	return s
}

// signed is a verdict with its sign.
func signed(verdict string) string {
	word, _, _ := strings.Cut(strings.TrimRight(verdict, "*"), " ")
	for _, s := range [][2]string{{"better", "+ "}, {"worse", "- "}, {"same", "= "}, {"unsure", "? "}} {
		if word == s[0] {
			return s[1] + verdict
		}
	}
	return verdict
}

// variantColors tell the variants of a report apart, beside their names: blue, orange,
// green, purple, yellow, sky, red, grey.
var variantColors = [...]string{"75", "208", "36", "176", "220", "117", "160", "245"}

func (l Look) variant(at int, s string) string {
	return l.paint(variantColors[max(at, 0)%len(variantColors)], s)
}

// asciiOf are the characters of plots by what stands for them.
var asciiOf = map[rune]rune{
	'▁': '_', '▂': '.', '▃': '-', '▄': '~', '▅': '=', '▆': '+', '▇': '*', '█': '#',
	'▏': '.', '▎': '.', '▍': '-', '▌': '-', '▋': '=', '▊': '=', '▉': '#',
	'─': '-', '━': '=', '│': '|', '┃': '|', '┊': ':', '·': '.', '●': 'o', '◀': '<', '▶': '>', '┤': '|', '┬': '+', '└': '+', '├': '[', '┼': '+', '╂': '|',
	'○': 'x', '▲': 'A', '◆': 'v', '■': 'n', '□': 'u', '△': 'a', '◇': '^',
}

// ascii writes a page without any other characters.
func ascii(s string) string { return strings.Map(inASCII, s) }

// inASCII is what stands for a character.
func inASCII(r rune) rune {
	if to, ok := asciiOf[r]; ok {
		return to
	}
	switch {
	case r >= firstBraille && r < firstBraille+256:
		return [...]rune{' ', '.', ':', ':', '+', '+', '#', '#', '#'}[dots(r)]
	case r > '~':
		return '?'
	}
	return r
}

// firstBraille is the pattern without any dot.
const firstBraille = '\u2800'

func dots(r rune) int {
	n := 0
	for b := r - firstBraille; b != 0; b &= b - 1 {
		n++
	}
	return n
}
