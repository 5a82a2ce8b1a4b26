package knob

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// part is the value of one of several things that a knob sets alike: of a queue,
// or of an interrupt.
type part struct{ name, value string }

// sortParts puts parts in the order of the numbers at their names' ends.
func sortParts(parts []part) {
	number := func(p part) int {
		n, _ := strconv.Atoi(strings.TrimLeft(p.name, "abcdefghijklmnopqrstuvwxyz-"))
		return n
	}
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(number(a), number(b)), cmp.Compare(a.name, b.name))
	})
}

// joinParts is the one value of all parts, or else "rx-0:0-1 rx-1:none".
func joinParts(parts []part) string {
	if len(parts) == 0 {
		return ""
	}
	same := true
	words := make([]string, len(parts))
	for i, p := range parts {
		same = same && p.value == parts[0].value
		words[i] = p.name + ":" + p.value
	}
	if same {
		return parts[0].value
	}
	return strings.Join(words, " ")
}

// splitParts gives each of the named parts its value: the one value for all, or
// what joinParts wrote. A part that the text does not name is left out.
func splitParts(text string, names []string) ([]part, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil, fmt.Errorf("%q is no value", text)
	}
	if len(words) == 1 && !strings.Contains(text, ":") {
		all := make([]part, len(names))
		for i, n := range names {
			all[i] = part{n, text}
		}
		return all, nil
	}
	var parts []part
	for _, w := range words {
		name, value, ok := strings.Cut(w, ":")
		if !ok || name == "" || value == "" {
			return nil, fmt.Errorf("%q of %q is no NAME:VALUE", w, text)
		}
		if slices.Contains(names, name) {
			parts = append(parts, part{name, value})
		}
	}
	return parts, nil
}
