package table

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// columns are those of a table in CSV, by their place; -1 for one that is not there.
type columns struct {
	variant, test, metric, unit, better, end, value int
	params, factors                                 []named
}

type named struct {
	name string
	at   int
}

// columnsOf reads the title line; false if it is not that of a table.
func columnsOf(titles []string) (columns, bool, error) {
	c := columns{-1, -1, -1, -1, -1, -1, -1, nil, nil}
	places := map[string]*int{"variant": &c.variant, "test": &c.test, "metric": &c.metric, "unit": &c.unit, "better": &c.better, "end": &c.end, "value": &c.value}
	var unknown []string
	for i, t := range titles {
		t = strings.TrimSpace(t)
		kind, name, _ := strings.Cut(t, ":")
		switch {
		case places[t] != nil && *places[t] < 0:
			*places[t] = i
		case kind == "param" && name != "":
			c.params = append(c.params, named{name, i})
		case kind == "factor" && name != "":
			c.factors = append(c.factors, named{name, i})
		default:
			unknown = append(unknown, t)
		}
	}
	if c.metric < 0 || c.value < 0 || c.test < 0 || c.variant < 0 && len(c.factors) == 0 {
		return c, false, nil
	}
	switch {
	case len(unknown) > 0:
		return c, true, fmt.Errorf("unknown column %q, or one that is there twice", unknown[0])
	case c.unit < 0:
		return c, true, errors.New("it has no column unit")
	case c.variant >= 0 && len(c.factors) > 0:
		return c, true, errors.New("it has both variant and factor columns: give one kind")
	case c.variant >= 0:
		c.factors = []named{{"variant", c.variant}}
	}
	return c, true, nil
}

// csvTable reads a table in CSV; false for a file that is none.
func csvTable(f *scan.File) (scan.Found, bool) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(f.Data, []byte("\xef\xbb\xbf"))))
	r.Comment, r.TrimLeadingSpace = '#', true
	titles, err := r.Read()
	if err != nil {
		return scan.Found{}, false
	}
	c, ours, err := columnsOf(titles)
	if !ours {
		return scan.Found{}, false
	}
	line, _ := r.FieldPos(0)
	if err != nil {
		return refused(f, line, err.Error()), true
	}
	var rows [][]string
	var lines []int
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var bad *csv.ParseError
		if errors.As(err, &bad) {
			return refused(f, bad.Line, bad.Err.Error()), true
		}
		if err != nil {
			return refused(f, 0, err.Error()), true
		}
		at, _ := r.FieldPos(0)
		rows, lines = append(rows, row), append(lines, at)
	}
	found, line, err := c.read(rows, lines)
	if err != nil {
		return refused(f, line, err.Error()), true
	}
	found.Claimed = []scan.Span{whole(f)}
	return found, true
}

// read makes tests of the rows. Levels come in the order in which they first stand there.
func (c *columns) read(rows [][]string, lines []int) (scan.Found, int, error) {
	factors := make([]spec.Factor, len(c.factors))
	for i, n := range c.factors {
		factors[i].Name = n.name
		for _, row := range rows {
			if level := strings.TrimSpace(row[n.at]); !slices.Contains(factors[i].Levels, level) {
				factors[i].Levels = append(factors[i].Levels, level)
			}
		}
	}
	if err := checkFactors(factors); err != nil {
		return scan.Found{}, 0, err
	}
	all := newCollector(factors)
	for i, row := range rows {
		if err := c.row(all, row, lines[i]); err != nil {
			return scan.Found{}, lines[i], err
		}
	}
	return scan.Found{Tests: all.tests, Table: &scan.Table{Factors: factors}}, 0, nil
}

func (c *columns) row(all *collector, row []string, line int) error {
	get := func(at int) string {
		if at < 0 {
			return ""
		}
		return strings.TrimSpace(row[at])
	}
	v, ok := scan.Number(get(c.value))
	if !ok {
		return fmt.Errorf("the value %q is no number that can be", get(c.value))
	}
	of := map[string]string{}
	for _, n := range c.factors {
		of[n.name] = get(n.at)
	}
	variant, err := variantOf(all.factors, of)
	if err != nil {
		return err
	}
	var params []result.Fact
	for _, p := range c.params {
		if text := get(p.at); text != "" {
			params = append(params, result.Fact{Name: p.name, Value: text})
		}
	}
	if get(c.test) == "" {
		return errors.New("a row has no test")
	}
	f, err := figureOf(get(c.metric), get(c.unit), get(c.better), get(c.end), v)
	if err != nil {
		return err
	}
	all.add(get(c.test), params, variant, f, nil, line)
	return nil
}
