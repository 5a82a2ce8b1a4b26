package store

import (
	"cmp"
	"slices"
	"strings"
)

// nearest returns at most n of the labels that somebody who typed text may
// have meant, nearest first: those that a few edits make of it, whatever the
// case, and those that have it in them.
func nearest(text string, labels []string, n int) []string {
	type candidate struct {
		label string
		edits int
	}
	var near []candidate
	typed := strings.ToLower(text)
	for _, l := range labels {
		label := strings.ToLower(l)
		d := edits(typed, label)
		if most := max(1, max(len(typed), len(label))/3); d <= most || typed != "" && strings.Contains(label, typed) {
			near = append(near, candidate{l, d})
		}
	}
	slices.SortFunc(near, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.edits, b.edits), strings.Compare(a.label, b.label))
	})
	var names []string
	for _, c := range near[:min(n, len(near))] {
		if c.label != "" {
			names = append(names, c.label)
		}
	}
	return names
}

// edits is how far two texts are apart by typing: the fewest characters to put
// in, take out, replace, or swap with the next one (optimal string alignment).
func edits(a, b string) int {
	from, to := []rune(a), []rune(b)
	last := make([]int, len(to)+1) // the row before the one before
	before := make([]int, len(to)+1)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		last, before, row = before, row, last
		row[0] = i + 1
		for j, c := range to {
			replaced := before[j]
			if r != c {
				replaced++
			}
			row[j+1] = min(replaced, row[j]+1, before[j+1]+1)
			if i > 0 && j > 0 && r == to[j-1] && from[i-1] == c {
				row[j+1] = min(row[j+1], last[j-1]+1)
			}
		}
	}
	return row[len(to)]
}
