package table

import (
	"fmt"
	"regexp"
	"strings"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

var (
	// mmRow is a row of mmtests' comparison: a mean, what it is of, and for each column
	// the value with its change, in stars where mmtests calls it significant.
	mmRow    = regexp.MustCompile(`^\s*((?:H|A|G)mean|Min|Max|Stddev|CoeffVar|BHmean-\d+|BAmean-\d+)\s+(\S+)\s+(.*)$`)
	mmValue  = regexp.MustCompile(`([0-9.]+) [(*]\s*(-?[0-9.]+)%[)*]`)
	mmKnown  = regexp.MustCompile(`^(send|recv)-([0-9]+)$`)
	mmColumn = regexp.MustCompile(`\S+(?: \S+)*`)
)

// comparisons reads mmtests' comparison tables. They print no unit and no direction: of
// its netperf-udp, whose rows are send-N and recv-N, both are known.
func comparisons(f *scan.File) scan.Found {
	var found scan.Found
	var factors []spec.Factor
	var all *collector
	for i, l := range f.Lines {
		m := mmRow.FindStringSubmatch(l.Text)
		if m == nil {
			continue
		}
		one := scan.Span{From: l.No, To: l.No}
		values := mmValue.FindAllStringSubmatch(m[3], -1)
		if len(values) < 2 {
			continue
		}
		if factors == nil {
			names := titlesAbove(f, i, len(values))
			if names == nil {
				found.Problems = append(found.Problems, scan.Problem{Span: one, Text: "mmtests' table has no line of as many titles above its rows"})
				found.Claimed = append(found.Claimed, one)
				return found
			}
			factors = []spec.Factor{{Name: "variant", Levels: names}}
			if err := checkFactors(factors); err != nil {
				found.Problems = append(found.Problems, scan.Problem{Span: one, Text: "mmtests' table: " + err.Error()})
				return found
			}
			all = newCollector(factors)
			found.Claimed = append(found.Claimed, scan.Span{From: f.Lines[i-1].No, To: l.No})
		} else {
			found.Claimed = append(found.Claimed, one)
		}
		kind := mmKnown.FindStringSubmatch(m[2])
		switch {
		case len(values) != len(factors[0].Levels):
			found.Problems = append(found.Problems, scan.Problem{Span: one, Text: fmt.Sprintf("mmtests' row has %d values for %d columns", len(values), len(factors[0].Levels))})
		case m[1] != "Hmean" && m[1] != "Amean" && m[1] != "Gmean":
			// What goes with the means.
		case kind == nil:
			found.Problems = append(found.Problems, scan.Problem{Span: one, Text: fmt.Sprintf("mmtests prints no unit, and whether %s is better higher or lower is not known: write it as a table", m[2])})
		default:
			row(all, factors[0], kind, m[1], values, l.No)
		}
	}
	if all == nil {
		return found
	}
	found.Tests = all.tests
	for i := range found.Tests {
		t := &found.Tests[i]
		t.Tool = "mmtests"
		t.Warnings = append(t.Warnings, result.Warning{Code: "unit-not-printed",
			Text:   "mmtests prints no unit: its netperf-udp counts 10^6 bit/s, more is better, and send-N is counted at the sender, whatever was lost",
			Advice: "compare the rows of recv-N, if they are there"})
	}
	found.Table = &scan.Table{Factors: factors}
	return found
}

// titlesAbove are the names of the columns, from the line above the first row.
func titlesAbove(f *scan.File, i, n int) []string {
	if i == 0 {
		return nil
	}
	var names []string
	for _, w := range mmColumn.FindAllString(strings.TrimSpace(f.Lines[i-1].Text), -1) {
		names = append(names, strings.Fields(w)...)
	}
	if len(names) != n {
		return nil
	}
	return names
}

func row(all *collector, columns spec.Factor, kind []string, mean string, values [][]string, line int) {
	metric, end := result.Offered, result.Local
	if kind[1] == "recv" {
		metric, end = result.Goodput, result.Remote
	}
	for j, v := range values {
		if mbit, ok := scan.Number(v[1]); ok {
			f := result.ImportedMetric(metric, end, mbit*1e6, v[1]+" ("+mean+")", line)
			all.add("netperf-udp", []result.Fact{{Name: "message", Value: kind[2]}}, spec.Variant{columns.Name: columns.Levels[j]}, f, nil, line)
		}
	}
}
