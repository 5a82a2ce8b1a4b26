// Package table reads figures that a post has in a table of its own: as YAML or CSV that
// somebody typed from it, and as mmtests' comparison prints them.
//
// A table in YAML says what it is in its first key:
//
//	netdelta: table/1
//	title: receive call of the tun driver
//	factors:                      # what varies; the first level is the baseline
//	  - {name: driver, levels: [old, new]}
//	metrics:
//	  - test: UDP                 # any name; what is compared has the same
//	    params: {size: 64}        # what sets tests of one name apart
//	    metric: half_rtt_mean     # a name that netdelta knows, or one of the post's
//	    unit: us                  # with its base: MB/s is 10^6 bytes, MiB/s 2^20
//	    better: lower             # needed where the unit leaves it open
//	    end: local                # where it was taken: local, remote; left out if unknown
//	    less: 3.5                 # a part that is the same everywhere, taken off as well
//	    values: {old: 44, new: [38, 39]}   # a list has repetitions
//	claims:
//	  - {says: "20% faster", test: UDP size=64, metric: half_rtt_mean, level: new, against: old, change_pct: -20}
//
// With several factors a metric has cells in place of values, each with a level of
// every factor: {of: {release: Tiger, handler: filter}, value: 8}. A table may have claims
// alone, for other programs' outputs to be held against.
//
// A table in CSV has a title line, and a row for each value: variant (or factor:NAME for
// each factor), test, metric, unit, value; and, where they are wanted, better, end and
// param:NAME for each parameter.
package table

import "netdelta/internal/interop/scan"

// Read finds a table in a file, or mmtests' comparisons.
func Read(f *scan.File) scan.Found {
	if found, ok := yamlTable(f); ok {
		return found
	}
	if found, ok := csvTable(f); ok {
		return found
	}
	return comparisons(f)
}

// whole is all lines of a file.
func whole(f *scan.File) scan.Span { return scan.Span{From: 1, To: max(1, len(f.Lines))} }

// refused is a table of which nothing is taken: one wrong value would make others wrong.
func refused(f *scan.File, line int, text string) scan.Found {
	at := whole(f)
	p := scan.Problem{Span: at, Text: "not understood: the table: " + text}
	if line > 0 && line <= at.To {
		p.Span = scan.Span{From: line, To: line}
	}
	return scan.Found{Claimed: []scan.Span{at}, Problems: []scan.Problem{p}}
}
