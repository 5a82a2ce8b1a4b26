package spec

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// reader turns a plan file's values into a plan.
type reader struct {
	// nodes are the places of a plan's parts, by the paths of faults.
	nodes map[string]*node
}

func (r *reader) mark(n *node, path ...string) { r.nodes[strings.Join(path, "\x00")] = n }

// find is the place of the innermost part that an error is about.
func (r *reader) find(path []string) *node {
	for ; len(path) > 0; path = path[:len(path)-1] {
		if n := r.nodes[strings.Join(path, "\x00")]; n != nil {
			return n
		}
	}
	return r.nodes[""]
}

// locate turns any error into that of a plan file: where it is, what it is, the
// line, and a caret.
func (r *reader) locate(err error, text string) error {
	line, column := 1, 1
	var p *place
	var f *fault
	switch {
	case errors.As(err, &p):
		line, column = p.line, p.column
	case errors.As(err, &f):
		if n := r.find(f.path); n != nil {
			line, column = n.line, n.column
		}
	}
	lines := strings.Split(text, "\n")
	line = min(max(line, 1), len(lines))
	column = min(max(column, 1), utf8.RuneCountInString(lines[line-1])+1)
	source, caret := excerpt(lines[line-1], column)
	return fmt.Errorf("line %d, column %d: %w\n%s\n%s", line, column, err, source, caret)
}

// maxExcerpt is the most characters of a line that an error shows.
const maxExcerpt = 120

// excerpt is the line, or the part of it around the column, and a caret below.
func excerpt(line string, column int) (source, caret string) {
	chars := []rune(line)
	place := column - 1
	if len(chars) > maxExcerpt {
		from := min(max(place-maxExcerpt/2, 0), len(chars)-maxExcerpt)
		chars, place = chars[from:from+maxExcerpt], place-from
	}
	below := make([]rune, 0, place)
	for i, c := range chars {
		if c != '\t' && !unicode.IsPrint(c) {
			chars[i] = '?'
		}
		if i < place {
			if c != '\t' {
				c = ' '
			}
			below = append(below, c)
		}
	}
	return string(chars), string(below) + "^"
}

// field is a key that a mapping may have, and what reads its value.
type field struct {
	name string
	read func(*node) error
}

// fields reads a mapping of known keys.
func (n *node) fields(what string, known []field) error {
	if n.kind != mapping {
		return n.wrong("%s is a mapping of %s, not %s", what, fieldNames(known), n.shown())
	}
	seen := map[string]bool{}
	for _, e := range n.entries {
		name := e.key.text
		i := slices.IndexFunc(known, func(f field) bool { return f.name == name })
		if i < 0 {
			return e.key.wrong("%s has no key %s: valid are %s", what, quoted(name), nearestNames(known, name))
		}
		if seen[name] {
			return e.key.wrong("%s has the key %s twice", what, name)
		}
		seen[name] = true
		if err := known[i].read(e.value); err != nil {
			return err
		}
	}
	return nil
}

func fieldNames(fields []field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return strings.Join(names, ", ")
}

func nearestNames(fields []field, name string) string {
	sorted := slices.Clone(fields)
	slices.SortStableFunc(sorted, func(a, b field) int { return cmp.Compare(edits(a.name, name), edits(b.name, name)) })
	return fieldNames(sorted)
}

// shown is what the node is, for an error that wanted something else.
func (n *node) shown() string {
	switch {
	case n.empty:
		return "nothing"
	case n.kind == scalar:
		return quoted(n.text)
	case len(n.entries) == 0 && len(n.items) == 0:
		return strings.Replace(string(n.kind), "a ", "an empty ", 1)
	}
	return string(n.kind)
}

// word is the text of a value.
func (n *node) word(what string) (string, error) {
	if n.kind != scalar || n.empty {
		return "", n.wrong("%s is a text, not %s", what, n.shown())
	}
	return n.text, nil
}

// words are the texts of a list, or the one that stands for a list of it.
func (n *node) words(what string) ([]*node, error) {
	if n.kind == scalar && !n.empty {
		return []*node{n}, nil
	}
	if n.kind != sequence {
		return nil, n.wrong("%s is a list, not %s", what, n.shown())
	}
	for _, item := range n.items {
		if _, err := item.word(what); err != nil {
			return nil, err
		}
	}
	return n.items, nil
}

// The following return what reads one value of a kind into a variable, after the
// name that errors call it by.

func readText(what string, to *string) func(*node) error {
	return func(n *node) error {
		s, err := n.word(what)
		if err != nil {
			return err
		}
		if strings.ContainsFunc(s, unicode.IsControl) || len(s) > maxText {
			return n.wrong("%s has control characters in it, or more than %d bytes", what, maxText)
		}
		*to = s
		return nil
	}
}

func readCPUs(what string, to *string) func(*node) error {
	return func(n *node) error {
		s, err := n.word(what)
		if err != nil {
			return err
		}
		if s != "auto" {
			if err := workerCPUs("", s); err != nil {
				return n.wrong("%s: %w", what, err)
			}
		}
		*to = s
		return nil
	}
}

func readBool(what string, to *bool) func(*node) error {
	return func(n *node) error {
		switch n.text {
		case "true", "on", "yes":
			*to = true
		case "false", "off", "no":
			*to = false
		default:
			return n.wrong("%s is true or false, not %s", what, n.shown())
		}
		return nil
	}
}

func readInt(what string, to *int) func(*node) error {
	return func(n *node) error {
		i, err := strconv.Atoi(n.text)
		if err != nil || n.kind != scalar {
			return n.wrong("%s is a whole number, not %s", what, n.shown())
		}
		*to = i
		return nil
	}
}

func readDuration(what string, to *time.Duration) func(*node) error {
	return func(n *node) error {
		d, err := time.ParseDuration(n.text)
		if err != nil || n.kind != scalar {
			return n.wrong("%s is a number with a unit, as in 500ms, 1.5s or 10m, not %s", what, n.shown())
		}
		*to = d
		return nil
	}
}

func readPercent(what string, to *float64) func(*node) error {
	return func(n *node) error {
		number, ok := strings.CutSuffix(n.text, "%")
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if !ok || err != nil || math.IsInf(v, 0) || n.kind != scalar {
			return n.wrong("%s is a percentage with its sign, as in 2%%, not %s", what, n.shown())
		}
		if *to = v / 100; !(*to > 0 && *to < 1) {
			return n.wrong("%s %s is out of range: above 0%% and below 100%%", what, quoted(n.text))
		}
		return nil
	}
}
