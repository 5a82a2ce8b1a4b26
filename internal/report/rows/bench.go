package rows

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Bench writes each trial as a result in Go's benchmark format
// (https://go.dev/design/14313-benchmark-format): a line with the test, its
// parameters and the trial's variant as its name, and its main metrics.
//
// What varies is in the names and nowhere else: benchstat -col /rx FILE then has a
// column for each level of rx, the baseline's first, and a row for each test. Between
// separate runs it is -col /run. Which direction is better stands in lines of units.
func Bench(w io.Writer, d *compare.Document) error {
	trials := inOrder(d.Trials())
	b := bufio.NewWriter(w)
	sheet := newSheet(d, trials)
	sheet.head(b, d)
	for i := range trials {
		if values := sheet.values(trials[i].Trial); values != "" {
			fmt.Fprintf(b, "Benchmark%s %d%s\n", sheet.name(&trials[i]), iterations(trials[i].Trial), values)
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write benchmark results: %w", err)
	}
	return nil
}

// inOrder sorts trials so that what a reader meets first is the baseline, and tests are
// in the order of reports.
func inOrder(trials []compare.Of) []compare.Of {
	rank := func(t spec.Test) int {
		return slices.IndexFunc(spec.Kinds(), func(k spec.Kind) bool { return k.Name == t.Name })
	}
	slices.SortStableFunc(trials, func(a, b compare.Of) int {
		x, y := a.Trial.Test, b.Trial.Test
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(rank(x), rank(y)), cmp.Compare(x.RequestSize(), y.RequestSize()),
			cmp.Compare(x.ResponseSize(), y.ResponseSize()), strings.Compare(x.String(), y.String()), strings.Compare(a.Under, b.Under), cmp.Compare(a.Trial.Block, b.Trial.Block))
	})
	return trials
}

// sheet is what all lines have in common.
type sheet struct {
	factors []string
	// run says that the variant is a side's, and no factor's level.
	run bool
	// varied are the parameters that a factor sets, by test: each variant has its own,
	// so that they can't be in a name that variants are to share.
	varied map[string][]string
	shown  map[shownKey]bool
	both   map[string]bool // metrics taken at both ends
	better map[string]result.Better
	units  []string // in the order in which they come
}

type shownKey struct {
	test  string
	taken result.Taken
}

func newSheet(d *compare.Document, trials []compare.Of) *sheet {
	s := &sheet{factors: factorsOf(trials), varied: map[string][]string{}, shown: map[shownKey]bool{}, both: map[string]bool{}, better: map[string]result.Better{}}
	if r := d.Report; r != nil {
		s.run = r.Separate() && len(r.Factors) == 1 && !slices.Contains(s.factors, r.Factors[0].Name)
		for _, c := range r.Comparisons {
			for _, p := range c.Varied {
				if !slices.Contains(s.varied[c.Test], p) {
					s.varied[c.Test] = append(s.varied[c.Test], p)
				}
			}
		}
	}
	for _, t := range trials {
		at := map[string]string{}
		for _, m := range t.Trial.Metrics() {
			if end, taken := at[m.Name]; taken && end != m.End {
				s.both[m.Name] = true
			}
			at[m.Name] = m.End
			def, known := result.DefinitionOf(t.Trial.Test, m.Name, m.End)
			if known && (def.Rank < result.NonZero || def.Rank == result.NonZero && m.Value != 0) {
				s.shown[shownKey{t.Trial.Test.Name, m.Taken()}] = true
			}
		}
	}
	for _, t := range trials {
		for _, m := range s.metrics(t.Trial) {
			u := s.unit(m)
			old, known := s.better[u]
			switch {
			case !known:
				s.better[u] = m.Better
				s.units = append(s.units, u)
			case old != m.Better:
				s.better[u] = "" // two metrics that come out alike: neither is said
			}
		}
	}
	return s
}

// head is what stands before the results.
func (s *sheet) head(w io.Writer, d *compare.Document) {
	version, experiment := "", ""
	if r := d.Report; r != nil {
		version, experiment = r.Version, r.Experiment
	} else {
		version = d.Summary.Version
	}
	// Lines that begin with # are none of the format's, and are skipped.
	for _, f := range s.columns(d) {
		fmt.Fprintf(w, "# benchstat -col /%s FILE\n", f)
	}
	for _, line := range [][2]string{{"experiment", experiment}, {"version", version}} {
		if v := strings.TrimSpace(cell(line[1])); v != "" {
			fmt.Fprintf(w, "%s: %s\n", line[0], v)
		}
	}
	for _, u := range s.units {
		if s.better[u] != "" {
			fmt.Fprintf(w, "Unit %s better=%s\n", u, s.better[u])
		}
	}
	fmt.Fprintln(w)
}

// columns are the parts of names that a table can be made by.
func (s *sheet) columns(d *compare.Document) []string {
	if d.Report == nil {
		return nil
	}
	var all []string
	for _, f := range d.Report.Compared() {
		all = append(all, keyOf(f.Name))
	}
	return all
}

// metrics are those of a trial that its line has.
func (s *sheet) metrics(x *result.Trial) []result.Metric {
	return slices.DeleteFunc(x.Metrics(), func(m result.Metric) bool { return !s.shown[shownKey{x.Test.Name, m.Taken()}] })
}

func (s *sheet) values(x *result.Trial) string {
	var b strings.Builder
	var said []string
	for _, m := range s.metrics(x) {
		u := s.unit(m)
		if slices.Contains(said, u) {
			continue // a line has one value of a unit, or they would be taken for samples
		}
		said = append(said, u)
		fmt.Fprintf(&b, " %s %s", number(m.Value), u)
	}
	return b.String()
}

// iterations are what a trial's figures are over: round trips or messages; 1 where that
// is not known.
func iterations(x *result.Trial) int64 {
	n := x.Local.Messages
	if x.Remote != nil && x.Test.Kind().Sends() {
		n = x.Remote.Messages
	}
	return max(n, 1)
}
