package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Gate is what a report must not say, for scripts: VERDICT[:METRIC[:PERCENT]].
type Gate struct {
	// Verdict is worse, better or unsure, or Different.
	Verdict Verdict
	// Test is a test's name, or empty for any; Metric a metric's, or empty for
	// all of the report's main rows.
	Test, Metric string
	// Size is the smallest relative change that fails, above 0 (0.05 is 5%);
	// 0 for any that has the verdict.
	Size float64
}

// Different is a gate's word for better or worse.
const Different Verdict = "different"

var gated = []Verdict{Worse, Better, Unsure, Different}

// ParseGates reads a comma-separated list of gates, each of them
//
//	VERDICT[:[TEST/]METRIC[:PERCENT]]
//
// as in "worse", "worse:rtt_p50", "different:udp_rr/rtt_p50:5%" and "worse::10".
func ParseGates(text string) ([]Gate, error) {
	var all []Gate
	for _, item := range strings.Split(text, ",") {
		g, err := parseGate(strings.TrimSpace(item))
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}

func parseGate(text string) (Gate, error) {
	fail := func(format string, args ...any) (Gate, error) {
		return Gate{}, fmt.Errorf("gate %q: %s", text, fmt.Sprintf(format, args...))
	}
	parts := strings.Split(text, ":")
	if len(parts) > 3 {
		return fail("it has %d parts: VERDICT[:METRIC[:PERCENT]] is needed", len(parts))
	}
	g := Gate{Verdict: Verdict(parts[0])}
	if !slices.Contains(gated, g.Verdict) {
		return fail("verdict %q: valid are %s", parts[0], words(gated))
	}
	if len(parts) > 1 {
		test, metric, both := strings.Cut(parts[1], "/")
		if !both {
			test, metric = "", parts[1]
		}
		g.Test, g.Metric = test, metric
		if both && (test == "" || metric == "") {
			return fail("%q is no TEST/METRIC", parts[1])
		}
		if err := g.known(); err != nil {
			return fail("%v", err)
		}
	}
	if len(parts) > 2 {
		v, err := strconv.ParseFloat(strings.TrimSuffix(parts[2], "%"), 64)
		if err != nil || !(v > 0 && v <= maxGate) {
			return fail("%q is no percentage above 0, and up to %d", parts[2], int(maxGate))
		}
		g.Size = v / 100
	}
	return g, nil
}

// maxGate is the largest percentage that a gate may ask for.
const maxGate = 1e6

// known reports a test or a metric that does not exist.
func (g *Gate) known() error {
	names := result.MetricNames(g.Test)
	if names == nil {
		var tests []string
		for _, k := range spec.Kinds() {
			tests = append(tests, k.Name)
		}
		return fmt.Errorf("unknown test %q: valid are %s", g.Test, strings.Join(tests, ", "))
	}
	if g.Metric == "" {
		return nil
	}
	if !slices.Contains(names, g.Metric) {
		return fmt.Errorf("unknown metric %q: valid are %s", g.Metric, strings.Join(names, ", "))
	}
	return nil
}

func words(verdicts []Verdict) string {
	var all []string
	for _, v := range verdicts {
		all = append(all, string(v))
	}
	return strings.Join(all, ", ")
}

// String writes the gate as ParseGates reads it.
func (g Gate) String() string {
	text := string(g.Verdict)
	if g.Metric == "" && g.Size == 0 {
		return text
	}
	text += ":"
	if g.Test != "" {
		text += g.Test + "/"
	}
	text += g.Metric
	if g.Size > 0 {
		text += ":" + strconv.FormatFloat(percentOf(g.Size), 'f', -1, 64) + "%"
	}
	return text
}

// FitsTests reports a gate that no row of a report on those tests can be about.
func (g Gate) FitsTests(tests []spec.Test) error {
	if g.Metric == "" {
		return nil
	}
	var names []string
	for _, t := range tests {
		if g.Test != "" && g.Test != t.Name {
			continue
		}
		for _, d := range result.Definitions(t) {
			if d.Name == g.Metric {
				return nil
			}
			if !slices.Contains(names, d.Name) {
				names = append(names, d.Name)
			}
		}
	}
	if names == nil {
		return fmt.Errorf("gate %s: %s is none of the tests", g, g.Test)
	}
	return fmt.Errorf("gate %s: none of the tests has the metric %s: they have %s", g, g.Metric, strings.Join(names, ", "))
}

// ErrUngated says that a gate could not be judged: there is no row that it is
// about, or a row without figures.
var ErrUngated = errors.New("a gate could not be judged")

// Gating is what a report's rows say to some gates.
type Gating struct {
	// Failed are the rows that fail a gate, and Open those that are unsure and
	// leave open whether they would; each as one line says it.
	Failed, Open []string
}

// Judge holds the gates against the report's rows. It fails with ErrUngated
// where a gate fails on nothing and can't be judged: no silent pass.
//
// A gate on a metric is about all rows of it, details among them, and each has
// to have a figure. One on all main rows leaves out those without a figure, but
// for the figures that stand for the tests. What is open is told of the rows of
// a metric that is named, and else of those that stand for the tests: an unsure
// row whose interval reaches a change that would fail, of the gate's size or the
// row's margin, whichever is larger.
func (r *Report) Judge(gates []Gate) (Gating, error) {
	var all Gating
	var broken []error
	for _, g := range gates {
		failed, open, err := r.judge(g)
		for _, text := range failed {
			if !slices.Contains(all.Failed, text) {
				all.Failed = append(all.Failed, text)
			}
		}
		for _, text := range open {
			if !slices.Contains(all.Open, text) {
				all.Open = append(all.Open, text)
			}
		}
		if err != nil {
			broken = append(broken, fmt.Errorf("%w: %s: %w", ErrUngated, g, err))
		}
	}
	if len(all.Failed) > 0 || len(broken) == 0 {
		return all, nil
	}
	return all, broken[0]
}

func (r *Report) judge(g Gate) (failed, open []string, err error) {
	rows := 0
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if !g.about(c) {
			continue
		}
		est, lo, hi := c.Shift()
		stands := g.Metric != "" || c.Rank() == result.Headline
		if math.IsNaN(est) {
			if stands && err == nil {
				err = fmt.Errorf("%s has no figure: %s", r.row(c), c.Change(1))
			}
			continue
		}
		rows++
		if c.Confidence < r.Level() {
			lo, hi = math.NaN(), math.NaN() // such an interval leaves nothing out
		}
		size := g.size(r, c)
		switch {
		case g.Verdict == Unsure:
			if c.Verdict == Unsure && (g.Size == 0 || !(lo > -size && hi < size)) {
				failed = append(failed, r.line(c))
			}
		case g.wants(c.Verdict) && math.Abs(est) >= size:
			failed = append(failed, r.line(c))
		case c.Verdict == Unsure && stands && g.reaches(c, lo, hi, max(size, c.Margin)):
			open = append(open, r.line(c))
		}
	}
	if rows == 0 && err == nil {
		err = errors.New("the report has no such row")
	}
	return failed, open, err
}

// about says whether the gate is about a row.
func (g Gate) about(c *Comparison) bool {
	if g.Metric == "" {
		return c.Rank() != result.Detail
	}
	return c.Metric == g.Metric && (g.Test == "" || c.Test == g.Test)
}

func (g Gate) wants(v Verdict) bool {
	return v == g.Verdict || g.Verdict == Different && (v == Better || v == Worse)
}

// reaches says whether an interval leaves open a change of that size which the
// gate would fail on. Bounds that are not known leave everything open.
func (g Gate) reaches(c *Comparison, lo, hi, size float64) bool {
	up, down := !(hi < size), !(lo > -size)
	switch {
	case g.Verdict == Different:
		return up || down
	case (g.Verdict == Worse) == (c.Better == result.Lower):
		return up
	}
	return down
}

// size is the gate's on the scale of the row's shift: a row's margin is worked
// out from the plan's in the same way.
func (g Gate) size(r *Report, c *Comparison) float64 {
	d, ok := result.DefinitionOf(c.Of(), c.Metric, c.End)
	if g.Size == 0 || !ok {
		return 0
	}
	return margin(g.Size, time.Duration(r.WindowNS), d, value(c.A.Median))
}

// row names a row of the report.
func (r *Report) row(c *Comparison) string {
	return fmt.Sprintf("%s %s at the %s end", c.Name(), c.Metric, c.End)
}

// line is a row as one line: which, of what against what, by how much.
func (r *Report) line(c *Comparison) string {
	against := c.Variant + " against " + c.Baseline
	if len(r.Compared()) > 1 {
		against = c.Factor + " " + against
	}
	return fmt.Sprintf("%s, %s: %s, %s", r.row(c), against, c.change(), c.Verdict)
}
