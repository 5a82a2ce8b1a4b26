package text

import (
	"fmt"
	"strings"

	"netdelta/internal/result"
)

// Item is a sentence, or a line of a list, before it is broken into lines: it has
// what the report says, in whatever characters.
type Item struct {
	// Word is what the text explains; empty for none.
	Word string
	Text string
	Kind Kind

	first, rest string // before its lines
}

// Kind is what an item is.
type Kind int

const (
	// Sentence is a sentence by itself.
	Sentence Kind = iota
	// Title stands above others.
	Title
	// Entry is one of a list, below the title before it.
	Entry
	// Meaning explains a word.
	Meaning
	// General is a warning about everything, and Particular one about some figures.
	General
	Particular
)

// hanging is a sentence whose further lines are indented, flush one whose lines are
// not, and indented one of which all are.
func hanging(text string) Item  { return Item{Text: text, rest: "  "} }
func flush(text string) Item    { return Item{Text: text} }
func indented(text string) Item { return Item{Text: text, Kind: Entry, first: "  ", rest: "    "} }
func titled(text string) Item   { return Item{Text: text, Kind: Title, rest: "  "} }

// items are hanging sentences.
func items(texts ...string) []Item {
	all := make([]Item, len(texts))
	for i, text := range texts {
		all[i] = hanging(text)
	}
	return all
}

// meaning is a line on a word.
func meaning(word, text string) Item {
	return Item{Word: word, Text: text, Kind: Meaning, first: fmt.Sprintf("  %-13s  ", word), rest: strings.Repeat(" ", 17)}
}

// general is a warning about all figures, and particular one that names its own.
func general(w result.Warning) Item {
	return Item{Text: sentence(w), Kind: General, first: "- ", rest: "  "}
}

func particular(text string) Item {
	return Item{Text: text, Kind: Particular, first: "! ", rest: "  "}
}

// Indents are what stands before an item's first line, and before its others.
func (i Item) Indents() (first, rest string) { return i.first, i.rest }

// lay breaks items into lines.
func lay(all []Item) []string {
	var lines []string
	for _, i := range all {
		lines = append(lines, wrap(i.Text, i.first, i.rest)...)
	}
	return lines
}
