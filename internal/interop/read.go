package interop

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"netdelta/internal/interop/scan"
)

// MaxFile is the largest file that is read, in bytes.
const MaxFile = 64 << 20

// Read makes of a file what it can: every test that some program's reader finds in it,
// and a problem for all lines that nobody understood. A file of which nothing is
// understood is no error; one that can't be a text is.
func Read(name string, data []byte) (Outcome, error) {
	if len(data) > MaxFile {
		return Outcome{}, fmt.Errorf("it has more than %d MiB", MaxFile>>20)
	}
	f, err := scan.New(name, data)
	if err != nil {
		return Outcome{}, err
	}
	o := Outcome{Name: f.Name}
	taken := make([]bool, len(f.Lines)+1)
	for _, t := range tools {
		found := within(t.Read(f), len(f.Lines))
		if slices.ContainsFunc(found.Claimed, func(s scan.Span) bool { return anyTaken(taken, s) }) {
			found = without(found, taken)
		}
		for _, s := range found.Claimed {
			for i := s.From; i <= s.To; i++ {
				taken[i] = true
			}
		}
		o.Tests = append(o.Tests, found.Tests...)
		o.Problems = append(o.Problems, found.Problems...)
		if o.Table == nil {
			o.Table = found.Table
		}
	}
	for i := range o.Tests {
		o.Tests[i].Source = f.Name
	}
	slices.SortStableFunc(o.Tests, func(a, b scan.Test) int { return cmp.Compare(a.Line, b.Line) })
	o.Problems = append(o.Problems, leftOver(f, taken, o.Problems)...)
	slices.SortStableFunc(o.Problems, func(a, b scan.Problem) int { return cmp.Compare(a.From, b.From) })
	return o, nil
}

// within leaves out what a reader says of lines that there are not, which would be a
// mistake of the reader's and must not become one of the file's.
func within(found scan.Found, lines int) scan.Found {
	outside := func(s scan.Span) bool { return s.From < 1 || s.To < s.From || s.To > lines }
	found.Tests = slices.DeleteFunc(found.Tests, func(t scan.Test) bool { return outside(scan.Span{From: t.Line, To: t.To}) })
	found.Claimed = slices.DeleteFunc(found.Claimed, outside)
	found.Problems = slices.DeleteFunc(found.Problems, func(p scan.Problem) bool { return outside(p.Span) })
	return found
}

func anyTaken(taken []bool, s scan.Span) bool {
	return slices.Contains(taken[s.From:s.To+1], true)
}

// without leaves out what a reader made of lines that another has.
func without(found scan.Found, taken []bool) scan.Found {
	found.Tests = slices.DeleteFunc(found.Tests, func(t scan.Test) bool { return anyTaken(taken, scan.Span{From: t.Line, To: t.To}) })
	found.Claimed = slices.DeleteFunc(found.Claimed, func(s scan.Span) bool { return anyTaken(taken, s) })
	found.Problems = slices.DeleteFunc(found.Problems, func(p scan.Problem) bool { return anyTaken(taken, p.Span) })
	return found
}

// leftOver are the lines with something on them that nobody understood, those that
// follow one another together.
func leftOver(f *scan.File, taken []bool, told []scan.Problem) []scan.Problem {
	for _, p := range told {
		for i := p.From; i <= p.To; i++ {
			taken[i] = true
		}
	}
	var all []scan.Problem
	for _, l := range f.Lines {
		if taken[l.No] || strings.TrimSpace(l.Text) == "" || prompt.MatchString(l.Text) {
			continue
		}
		if n := len(all); n > 0 && all[n-1].To == l.No-1 {
			all[n-1].To = l.No
			continue
		}
		all = append(all, scan.Problem{Span: scan.Span{From: l.No, To: l.No}, Text: fmt.Sprintf("not understood: %q", shorten(l.Text))})
	}
	return all
}

// prompt is a shell's, with or without a command, as terminals copy it.
var prompt = regexp.MustCompile(`^\s*\[?[\w.-]+@[\w.-]+[: ][^ ]*\]? ?[#$>%](\s|$)|^\s*[#$%>]\s+\S*(netperf|iperf3?|qperf|sockperf|fping|ping|nuttcp|NPtcp|ntttcp|tcp_rr|tcp_stream|docker)\b|^\s*\+ \S`)

// shorten keeps a long line from filling a report.
func shorten(text string) string {
	if r := []rune(text); len(r) > 60 {
		return string(r[:57]) + "..."
	}
	return text
}
