package table

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
)

func file(t testing.TB, text string) *scan.File {
	t.Helper()
	f, err := scan.New("table", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const twoFactors = `netdelta: table/1
title: a driver
source: a post
factors:
  - {name: release, levels: [Panther, Tiger]}
  - {name: handler, levels: [work loop, filter]}
metrics:
  - test: short message
    params: {size: 64}
    metric: half_rtt_mean
    unit: us
    end: local
    less: 3.5
    cells:
      - {of: {release: Panther, handler: work loop}, value: 17.1}
      - {of: {release: Tiger, handler: filter}, value: [8, 8.2]}
  - {test: short message, params: {size: 64}, metric: wakeups, unit: 1/s, better: lower, cells: [{of: {release: Panther, handler: work loop}, value: 3}]}
claims:
  - {says: roughly 20%, test: short message, metric: half_rtt_mean, factor: handler, level: filter, against: work loop, under: {release: Tiger}, change_pct: -20}
`

func TestYAML(t *testing.T) {
	found := Read(file(t, twoFactors))
	if len(found.Problems) > 0 || found.Table == nil || len(found.Tests) != 3 {
		t.Fatalf("%d tests, %v", len(found.Tests), found.Problems)
	}
	if f := found.Table.Factors; len(f) != 2 || f[1].Name != "handler" || f[1].Levels[1] != "filter" || found.Table.Title != "a driver" {
		t.Errorf("%+v", found.Table)
	}
	if c := found.Table.Claims; len(c) != 1 || c[0].ChangePct != -20 || c[0].Under["release"] != "Tiger" || c[0].Line != 19 {
		t.Errorf("%+v", c)
	}
	first := found.Tests[0]
	value := func(x scan.Test, metric, end string) float64 {
		f := x.Figure(result.Taken{Name: metric, End: end})
		if f == nil {
			t.Fatalf("no %s %s in %+v", metric, end, x)
		}
		return f.Value
	}
	if got := value(first, "half_rtt_mean", "local"); got != 17100 {
		t.Errorf("got %v ns", got)
	}
	if got := value(first, "half_rtt_mean_less_fixed", "local"); math.Abs(got-13600) > 1e-6 {
		t.Errorf("less the fixed part %v ns", got)
	}
	if got := value(first, "wakeups", ""); got != 3 {
		t.Errorf("got %v", got)
	}
	if first.Imported.Test().Name != "short message size=64" || first.Variant["handler"] != "work loop" || first.Line != 8 {
		t.Errorf("%+v", first)
	}
	if a, b := found.Tests[1], found.Tests[2]; a.Variant["release"] != "Tiger" || b.Variant["release"] != "Tiger" || value(b, "half_rtt_mean", "local") != 8200 {
		t.Errorf("repetitions %+v, %+v", a, b)
	}
}

// A table with a mistake gives nothing, and says what and where.
func TestYAMLRefuses(t *testing.T) {
	one := "netdelta: table/1\nvariants: [old, new]\nmetrics:\n  - {test: t, metric: goodput, unit: Mbit/s, values: {old: 1, new: 2}}\n"
	for what, c := range map[string]struct{ from, to, says string }{
		"another version":        {"table/1", "table/2", "reads table/1"},
		"an unknown key":         {"test: t,", "test: t, colour: red,", "colour"},
		"no variants":            {"variants: [old, new]\n", "", "neither variants nor factors"},
		"one variant":            {"[old, new]", "[old]", "two levels"},
		"a level twice":          {"[old, new]", "[old, old]", "twice"},
		"an unknown level":       {"new: 2", "newer: 2", `no level "newer"`},
		"no test":                {"test: t, ", "", "no test"},
		"no values":              {"values: {old: 1, new: 2}", "values: {}", "no values"},
		"a word":                 {"new: 2", "new: two", "no number"},
		"a negative value":       {"new: 2", "new: -2", "below zero"},
		"no number":              {"new: 2", "new: .nan", "no number"},
		"bits or bytes":          {"Mbit/s", "Mbps", "two ways"},
		"an unknown unit":        {"Mbit/s", "furlong", "unknown unit"},
		"another's unit":         {"Mbit/s", "us", "goodput is in bit/s"},
		"an open direction":      {"metric: goodput, unit: Mbit/s", "metric: share of it, unit: \"%\"", "better either way"},
		"a wrong direction":      {"unit: Mbit/s", "unit: Mbit/s, better: more", "valid are lower, higher"},
		"a wrong end":            {"unit: Mbit/s", "unit: Mbit/s, end: here", "valid are local, remote"},
		"too much taken off":     {"unit: Mbit/s", "unit: Mbit/s, less: 1.5", "less 1.5"},
		"no YAML":                {"variants: [old, new]", "variants: [old", ""},
		"a claim of nothing":     {"metrics:", "claims: [{says: x}]\nmetrics:", "needs says, metric, level"},
		"a claim of no level":    {"metrics:", "claims: [{says: x, metric: goodput, level: best, against: old, times: 2}]\nmetrics:", `level "best"`},
		"a claim of two numbers": {"metrics:", "claims: [{says: x, metric: goodput, level: new, against: old, times: 2, change_pct: 3}]\nmetrics:", "not both"},
	} {
		if !strings.Contains(one, c.from) {
			t.Fatalf("%s: nothing is changed", what)
		}
		found := Read(file(t, strings.Replace(one, c.from, c.to, 1)))
		if len(found.Tests) != 0 || len(found.Problems) != 1 || !strings.Contains(found.Problems[0].Text, c.says) || strings.Contains(found.Problems[0].Text, "\n") {
			t.Errorf("%s: %d tests, %v, want %q", what, len(found.Tests), found.Problems, c.says)
		}
	}
	if found := Read(file(t, one)); len(found.Tests) != 2 || len(found.Problems) != 0 {
		t.Errorf("without a mistake: %d tests, %v", len(found.Tests), found.Problems)
	}
	if found := Read(file(t, "netdelta: table/1\nmetrics:\n- test: t\n  metric: rate\n  unit: 1/s\n  values: {old: 1}\nvariants: [old, new]\nmore: 1\n")); len(found.Problems) != 1 || found.Problems[0].From != 8 {
		t.Errorf("the mistake is in line 8, and said to be in %+v", found.Problems)
	}
}

func TestCSV(t *testing.T) {
	text := "# of a post\nvariant,test,metric,unit,better,end,value,param:size\nold,udp,loss,%,,remote,12.5,64\nnew,udp,loss,%,,remote,0,64\nnew,udp,loss,%,,remote,1,64\n"
	found := Read(file(t, text))
	if len(found.Problems) != 0 || len(found.Tests) != 3 || found.Table == nil || found.Table.Factors[0].Levels[0] != "old" {
		t.Fatalf("%d tests, %v", len(found.Tests), found.Problems)
	}
	if f := found.Tests[0].Figures[0]; f.Value != 0.125 || f.End != "remote" || f.Better != result.Lower || f.Line != 3 {
		t.Errorf("%+v", f)
	}
	if found.Tests[2].Imported.Test().Name != "udp size=64" || found.Tests[2].Figures[0].Value != 0.01 {
		t.Errorf("%+v", found.Tests[2])
	}
	for what, c := range map[string]struct{ from, to, says string }{
		"a column twice":   {"better", "unit", "unknown column"},
		"an odd column":    {"param:size", "size", "unknown column"},
		"no unit":          {",unit,", ",param:unit,", "no column unit"},
		"a field too few":  {"new,udp,loss,%,,remote,0,64", "new,udp,loss,%,,remote,0", "wrong number of fields"},
		"no number":        {"12.5", "twelve", "twelve"},
		"below zero":       {"12.5", "-1", "-1"},
		"both kinds":       {"param:size", "factor:size", "both variant and factor"},
		"one variant only": {"old,udp", "new,udp", "two levels"},
		"no test":          {"old,udp", "old,", "no test"},
	} {
		found := Read(file(t, strings.Replace(text, c.from, c.to, 1)))
		if len(found.Tests) != 0 || len(found.Problems) != 1 || !strings.Contains(found.Problems[0].Text, c.says) {
			t.Errorf("%s: %d tests, %v, want %q", what, len(found.Tests), found.Problems, c.says)
		}
	}
}

// Other tables are left alone.
func TestNotOurs(t *testing.T) {
	for _, text := range []string{"a,b\n1,2\n", "key: value\n", "", "test,value\nx,1\n", "netdelta is good\n", "Hmean is a mean\n"} {
		if found := Read(file(t, text)); len(found.Tests)+len(found.Problems)+len(found.Claimed) != 0 {
			t.Errorf("%q: %+v", text, found)
		}
	}
}

// A comparison of mmtests' whose unit nobody can know is not taken.
func TestMMTests(t *testing.T) {
	rows := "                 old                  new\nHmean     send-64         162.43 (   0.00%)      157.84 *  -2.82%*\nHmean     odd-64          1.0 (   0.00%)      2.0 ( 100.00%)\nStddev    send-64         1.0 (   0.00%)      2.0 ( 100.00%)\n"
	found := Read(file(t, rows))
	if len(found.Tests) != 2 || found.Tests[0].Figures[0].Value != 162.43e6 || len(found.Problems) != 1 || !strings.Contains(found.Problems[0].Text, "odd-64") {
		t.Errorf("%+v, %v", found.Tests, found.Problems)
	}
	if found := Read(file(t, rows[strings.Index(rows, "Hmean"):])); len(found.Tests) != 0 || len(found.Problems) != 1 {
		t.Errorf("without titles: %+v", found)
	}
}

// A value in any unit is the same in the unit's base.
func TestUnits(t *testing.T) {
	for text, want := range map[string]float64{"us": 1e3, "ms": 1e6, "s": 1e9, "Mbit/s": 1e6, "MB/s": 8e6, "MiB/s": 8 << 20, "Gbit/s": 1e9, "%": 0.01, "us/KB": 1e-6 / 1024, "k/s": 1e3, "B/s": 8} {
		if u, err := unitOf(text); err != nil || u.times != want {
			t.Errorf("%s is %v, %v, want %v", text, u.times, err, want)
		}
	}
	for _, text := range []string{"", "MB", "Mb/s", "MBps", "usec ", "bits"} {
		if u, err := unitOf(text); err == nil {
			t.Errorf("%q is taken for %v", text, u)
		}
	}
}

// Whatever is typed for a value is that value, or refused.
func TestValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{1,4}(\.[0-9]{1,3})?(e-?[0-9])?`).Draw(t, "value")
		f, err := scan.New("x", []byte("variant,test,metric,unit,value\na,t,rate,1/s,1\nb,t,rate,1/s,"+text+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		found := Read(f)
		if strings.HasPrefix(text, "-") && strings.ContainsAny(text[:max(1, strings.IndexByte(text+"e", 'e'))], "123456789") {
			if len(found.Tests) != 0 {
				t.Fatalf("%s is taken", text)
			}
			return
		}
		want, ok := scan.Number(text)
		if !ok || len(found.Tests) != 2 || found.Tests[1].Figures[0].Value != want {
			t.Fatalf("%s is %+v", text, found.Tests)
		}
	})
}
