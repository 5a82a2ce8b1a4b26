package table

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Schema is what a table in YAML says that it is.
const Schema = "table/1"

// document is a table in YAML.
type document struct {
	Schema   string    `yaml:"netdelta"`
	Title    string    `yaml:"title"`
	Source   string    `yaml:"source"`
	Variants []string  `yaml:"variants"`
	Factors  []factor  `yaml:"factors"`
	Metrics  []metric  `yaml:"metrics"`
	Claims   []claimed `yaml:"claims"`
}

type factor struct {
	Name   string   `yaml:"name"`
	Levels []string `yaml:"levels"`
}

type metric struct {
	Test   string         `yaml:"test"`
	Params yaml.MapSlice  `yaml:"params"`
	Metric string         `yaml:"metric"`
	Unit   string         `yaml:"unit"`
	Better string         `yaml:"better"`
	End    string         `yaml:"end"`
	Less   float64        `yaml:"less"`
	Values map[string]any `yaml:"values"`
	Cells  []cell         `yaml:"cells"`
}

type cell struct {
	Of    map[string]string `yaml:"of"`
	Value any               `yaml:"value"`
}

type claimed struct {
	Says      string            `yaml:"says"`
	Test      string            `yaml:"test"`
	Metric    string            `yaml:"metric"`
	End       string            `yaml:"end"`
	Under     map[string]string `yaml:"under"`
	Factor    string            `yaml:"factor"`
	Level     string            `yaml:"level"`
	Against   string            `yaml:"against"`
	Times     float64           `yaml:"times"`
	ChangePct *float64          `yaml:"change_pct"`
	AtLeast   bool              `yaml:"at_least"`
	WithinPct float64           `yaml:"within_pct"`
}

// numbersOf is one number or a list of them. (A type that reads itself costs the library
// a walk through the whole document for each value.)
func numbersOf(value any) ([]float64, error) {
	var all []float64
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	for _, x := range list {
		switch v := x.(type) {
		case float64:
			all = append(all, v)
		case uint64:
			all = append(all, float64(v))
		case int64:
			all = append(all, float64(v))
		default:
			return nil, fmt.Errorf("%v is no number", x)
		}
	}
	return all, nil
}

// maxYAML is the largest table in YAML, in bytes: some ten thousand values.
const maxYAML = 1 << 20

var (
	schemas   = regexp.MustCompile(`(?m)^netdelta:\s*"?table/`)
	positions = regexp.MustCompile(`\[([0-9]+):[0-9]+\]\s*`)
)

// yamlTable reads a table in YAML; false for a file that does not say that it is one.
func yamlTable(f *scan.File) (scan.Found, bool) {
	if !schemas.Match(f.Data) {
		return scan.Found{}, false
	}
	if len(f.Data) > maxYAML {
		return refused(f, 0, fmt.Sprintf("it has more than %d KiB", maxYAML>>10)), true
	}
	var d document
	if err := yaml.UnmarshalWithOptions(f.Data, &d, yaml.Strict()); err != nil {
		line := 0
		text := strings.SplitN(err.Error(), "\n", 2)[0]
		if m := positions.FindStringSubmatch(text); m != nil {
			line, _ = strconv.Atoi(m[1])
		}
		return refused(f, line, positions.ReplaceAllString(text, "")), true
	}
	if d.Schema != Schema {
		return refused(f, 0, fmt.Sprintf("it is a %s, and this program reads %s", d.Schema, Schema)), true
	}
	found, line, err := d.read(f)
	if err != nil {
		return refused(f, line, err.Error()), true
	}
	found.Claimed = []scan.Span{whole(f)}
	return found, true
}

// linesOf is where each item of a list begins.
func linesOf(f *scan.File, list string) func(i int) int {
	var items []ast.Node
	if path, err := yaml.PathString("$." + list); err == nil {
		if node, err := path.ReadNode(bytes.NewReader(f.Data)); err == nil {
			if all, ok := node.(*ast.SequenceNode); ok {
				items = all.Values
			}
		}
	}
	return func(i int) int {
		if i >= len(items) || items[i].GetToken() == nil {
			return 1
		}
		return max(1, min(items[i].GetToken().Position.Line, len(f.Lines)))
	}
}

func (d *document) factors() ([]spec.Factor, error) {
	var factors []spec.Factor
	for _, x := range d.Factors {
		factors = append(factors, spec.Factor{Name: x.Name, Levels: x.Levels})
	}
	switch {
	case len(d.Variants) > 0 && len(factors) > 0:
		return nil, fmt.Errorf("it has both variants and factors: give one of them")
	case len(d.Variants) > 0:
		factors = []spec.Factor{{Name: "variant", Levels: d.Variants}}
	}
	if len(factors) == 0 && len(d.Metrics) > 0 {
		return nil, fmt.Errorf("it says neither variants nor factors, so nothing can be compared")
	}
	return factors, checkFactors(factors)
}

// read makes tests of the document, or says what is wrong with it and in which line.
func (d *document) read(f *scan.File) (scan.Found, int, error) {
	fail := func(line int, err error) (scan.Found, int, error) { return scan.Found{}, line, err }
	factors, err := d.factors()
	if err != nil {
		return fail(0, err)
	}
	if len(d.Metrics) == 0 && len(d.Claims) == 0 {
		return fail(0, fmt.Errorf("it has neither metrics nor claims"))
	}
	c, metrics, claims := newCollector(factors), linesOf(f, "metrics"), linesOf(f, "claims")
	for i := range d.Metrics {
		line := metrics(i)
		if err := d.Metrics[i].read(c, line); err != nil {
			return fail(line, err)
		}
	}
	t := &scan.Table{Title: d.Title, Factors: factors}
	for i := range d.Claims {
		line := claims(i)
		one, err := d.Claims[i].claim(factors, line)
		if err != nil {
			return fail(line, err)
		}
		t.Claims = append(t.Claims, one)
	}
	if d.Source != "" {
		for i := range c.tests {
			c.tests[i].Facts = append(c.tests[i].Facts, result.Fact{Name: "source", Value: d.Source})
		}
	}
	return scan.Found{Tests: c.tests, Table: t}, 0, nil
}

func (m *metric) read(c *collector, line int) error {
	if m.Test == "" {
		return fmt.Errorf("a metric has no test")
	}
	var params []result.Fact
	for _, p := range m.Params {
		params = append(params, result.Fact{Name: fmt.Sprint(p.Key), Value: fmt.Sprint(p.Value)})
	}
	cells := m.Cells
	if len(m.Values) > 0 {
		if len(cells) > 0 || len(c.factors) != 1 {
			return fmt.Errorf("%s of %s: values are for one factor; with several, or other values, use cells", m.Metric, m.Test)
		}
		for _, level := range slices.Sorted(maps.Keys(m.Values)) {
			cells = append(cells, cell{map[string]string{c.factors[0].Name: level}, m.Values[level]})
		}
		slices.SortStableFunc(cells, func(a, b cell) int {
			name := c.factors[0].Name
			return slices.Index(c.factors[0].Levels, a.Of[name]) - slices.Index(c.factors[0].Levels, b.Of[name])
		})
	}
	if len(cells) == 0 {
		return fmt.Errorf("%s of %s has no values", m.Metric, m.Test)
	}
	seen := map[string]bool{}
	for _, x := range cells {
		variant, err := variantOf(c.factors, x.Of)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", m.Metric, m.Test, err)
		}
		if key := variant.Key(c.factors); seen[key] {
			return fmt.Errorf("%s of %s has %s twice: write repetitions as a list", m.Metric, m.Test, key)
		} else {
			seen[key] = true
		}
		values, err := numbersOf(x.Value)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", m.Metric, m.Test, err)
		}
		for _, v := range values {
			if err := m.value(c, params, variant, v, line); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *metric) value(c *collector, params []result.Fact, variant spec.Variant, v float64, line int) error {
	if !finite(v) {
		return fmt.Errorf("%s of %s: %v is no number", m.Metric, m.Test, v)
	}
	f, err := figureOf(m.Metric, m.Unit, m.Better, m.End, v)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Test, err)
	}
	more, err := lessFixed(m.Metric, m.Unit, string(f.Better), m.End, v, m.Less)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Test, err)
	}
	c.add(m.Test, params, variant, f, more, line)
	return nil
}

// claim checks a claim.
func (x *claimed) claim(factors []spec.Factor, line int) (scan.Claim, error) {
	out := scan.Claim{Says: x.Says, Test: x.Test, Metric: x.Metric, End: x.End, Factor: x.Factor, Level: x.Level, Against: x.Against,
		Times: x.Times, AtLeast: x.AtLeast, WithinPct: x.WithinPct, Line: line}
	if len(x.Under) > 0 {
		out.Under = spec.Variant(x.Under)
	}
	switch {
	case x.Says == "" || x.Metric == "" || x.Level == "" || x.Against == "":
		return out, fmt.Errorf("a claim needs says, metric, level and against")
	case (x.Times != 0) == (x.ChangePct != nil):
		return out, fmt.Errorf("the claim %q needs times or change_pct, and not both", x.Says)
	case x.Times < 0 || x.WithinPct < 0:
		return out, fmt.Errorf("the claim %q has a number below zero", x.Says)
	}
	if x.ChangePct != nil {
		out.ChangePct = *x.ChangePct
	}
	if len(factors) == 1 && out.Factor == "" {
		out.Factor = factors[0].Name
	}
	if len(factors) == 0 {
		return out, nil
	}
	i := slices.IndexFunc(factors, func(f spec.Factor) bool { return f.Name == out.Factor })
	if i < 0 {
		return out, fmt.Errorf("the claim %q is of the factor %q, which there is not", x.Says, out.Factor)
	}
	for _, level := range []string{x.Level, x.Against} {
		if !slices.Contains(factors[i].Levels, level) {
			return out, fmt.Errorf("the claim %q is of the level %q, which %s has not", x.Says, level, out.Factor)
		}
	}
	return out, nil
}
