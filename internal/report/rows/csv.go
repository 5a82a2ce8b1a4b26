// Package rows writes a report for programs that read lines: CSV, and Go's benchmark
// format.
package rows

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"netdelta/internal/compare"
	"netdelta/internal/result"
)

// columns are those of a CSV before and behind the ones of its factors.
var (
	columnsBefore = [...]string{"run", "label", "variant", "under"}
	columnsBehind = [...]string{"test", "params", "block", "order", "attempt", "start", "window_s", "metric", "end", "unit", "better", "value", "warnings"}
)

// factorColumn begins the name of a factor's column.
const factorColumn = "factor."

// CSV writes a row for each trial and metric, details too, under a row of names. Values
// are in the units of JSON with all of their digits. A metric that a trial should have
// and lacks has a row without a value, and so has a trial without any: the codes of its
// warnings say why. Quotes are RFC 4180's; lines end with a line feed alone. A text that
// a spreadsheet would take for a formula has an apostrophe before it.
func CSV(w io.Writer, d *compare.Document) error {
	trials := d.Trials()
	factors := factorsOf(trials)
	c := csv.NewWriter(w)
	head := slices.Clone(columnsBefore[:])
	for _, f := range factors {
		head = append(head, cell(factorColumn+f))
	}
	if err := c.Write(append(head, columnsBehind[:]...)); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	for i := range trials {
		for _, row := range rowsOf(&trials[i], factors) {
			if err := c.Write(row); err != nil {
				return fmt.Errorf("write CSV: %w", err)
			}
		}
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}

// factorsOf are the names of all factors: those of plans in their order, and then any
// others by the alphabet.
func factorsOf(trials []compare.Of) []string {
	var planned, others []string
	for _, t := range trials {
		if t.Run.Plan != nil {
			for _, f := range t.Run.Plan.Factors {
				if !slices.Contains(planned, f.Name) {
					planned = append(planned, f.Name)
				}
			}
		}
	}
	for _, t := range trials {
		for name := range t.Trial.Variant {
			if !slices.Contains(planned, name) && !slices.Contains(others, name) {
				others = append(others, name)
			}
		}
	}
	slices.Sort(others)
	return append(planned, others...)
}

// rowsOf are the rows of one trial.
func rowsOf(t *compare.Of, factors []string) [][]string {
	x := t.Trial
	name, params := testOf(x)
	before := []string{cell(t.Run.ID), cell(t.Run.Label), cell(t.Variant), cell(t.Under)}
	for _, f := range factors {
		before = append(before, cell(x.Variant[f]))
	}
	start, window := "", ""
	if !x.Start.IsZero() {
		start = x.Start.UTC().Format(time.RFC3339Nano)
	}
	if x.Window > 0 {
		window = number(x.Window.Seconds())
	}
	before = append(before, cell(name), cell(params), strconv.Itoa(x.Block), strconv.Itoa(x.Order), strconv.Itoa(x.Attempt), start, window)
	warnings := x.AllWarnings()
	var all [][]string
	row := func(m result.Metric, value string) {
		all = append(all, append(slices.Clone(before), cell(m.Name), cell(m.End), cell(string(m.Unit)), string(m.Better), value, codes(warnings, m)))
	}
	metrics := x.Metrics()
	for _, m := range metrics {
		row(m, number(m.Value))
	}
	for _, m := range lacking(x, metrics) {
		row(m, "")
	}
	if len(all) == 0 {
		row(result.Metric{}, "")
	}
	return all
}

// lacking are the metrics that a trial tells of and has no figure of.
func lacking(x *result.Trial, has []result.Metric) []result.Metric {
	told, _ := x.Tells()
	var all []result.Metric
	for _, d := range result.Definitions(x.Test) {
		there := func(m result.Metric) bool { return m.Taken() == d.Taken() }
		if told[d.Taken()] && !slices.ContainsFunc(has, there) {
			all = append(all, result.Metric{Name: d.Name, End: d.End, Unit: d.Unit, Better: d.Better})
		}
	}
	return all
}

// codes are those of the warnings about a metric, each once; all of them where there is
// no metric.
func codes(warnings []result.Warning, m result.Metric) string {
	var all []string
	for _, w := range warnings {
		if (m.Name == "" || w.About(m.Taken())) && !slices.Contains(all, w.Code) {
			all = append(all, w.Code)
		}
	}
	return cell(strings.Join(all, ";"))
}

// testOf is a trial's test and its parameters as text.
func testOf(x *result.Trial) (name, params string) {
	whole, name := x.Test.String(), x.Test.Name
	if m := x.Imported; m != nil {
		bare := result.Imported{Tool: m.Tool, Name: m.Name}
		name = bare.Test().Name
	}
	return name, strings.TrimPrefix(strings.TrimPrefix(whole, name), " ")
}

// number writes a value so that reading it gives the same.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// cell is a text that is one, on one line, for every program that opens the file.
func cell(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if bare := strings.TrimLeft(s, " "); bare != "" && strings.ContainsRune("=+-@", firstOf(bare)) {
		return "'" + s
	}
	return s
}

// firstOf is a text's first character; full-width forms, which some spreadsheets take
// alike, as the ordinary ones.
func firstOf(s string) rune {
	const first, last, ordinary = '\uFF01', '\uFF5E', '!'
	r, _ := utf8.DecodeRuneInString(s)
	if r >= first && r <= last {
		return r - first + ordinary
	}
	return r
}
