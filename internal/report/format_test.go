package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"netdelta/internal/compare"
	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// What an experiment has of its own is in the JSON form, too.
func TestJSONOfAnExperiment(t *testing.T) {
	num := func(v float64) *float64 { return &v }
	want := compare.Report{Findings: []string{"a"}, Brief: true,
		Sections: []compare.Section{{Name: "s", Title: "t", Columns: []compare.Column{{Name: "c", Unit: "ns"}, {Name: "d", Percent: true}}, Notes: []string{"n"},
			Rows: []compare.Line{{Label: "l", Cells: []compare.Datum{{Value: num(1), Lo: num(0), Hi: num(2), Verdict: compare.Same}, {Text: "n/a (why)"}}}}}},
		Checks: []compare.Check{{Name: "k", Wanted: 1, Found: num(2), Unit: "ns", Within: 3, Pass: true, Text: "x"}, {Name: "none"}},
		Beside: []compare.Beside{{Test: "wake", Metric: "rtt_p50", Unit: "ns", N: 6, Summary: compare.Summary{Median: num(4)}}},
		Each:   []compare.Each{{Test: "udp_rr", Variant: "softirq", Block: 1, RTT: []int64{5, -1}, Of: 9}}}
	var b bytes.Buffer
	if err := JSON(&b, &want); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, `"found": null`) || !strings.Contains(text, `"rtt_ns": [`) || !strings.Contains(text, `"value": null`) {
		t.Errorf("got %s", text)
	}
	var got compare.Report
	d := json.NewDecoder(&b)
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("it is read back with a difference:\n%s", d)
	}
}

// kept reads one of the made-up reports that package compare keeps.
func kept(t *testing.T, name string) compare.Report {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "compare", "testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var r compare.Report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// documents are one of each kind.
func documents(t *testing.T) map[string]*compare.Document {
	r, run := kept(t, "rx-context"), keptRun(t)
	return map[string]*compare.Document{
		"comparison": {Report: &r, Kept: []compare.Kept{watched(spec.Variant{r.Factors[0].Name: r.Factors[0].Levels[0]})}},
		"run":        {Summary: &run, Kept: []compare.Kept{watched(nil)}},
	}
}

// watched is a run with one trial, of which one round trip was watched.
func watched(v spec.Variant) compare.Kept {
	test, err := spec.NewTest("udp_rr", spec.Params{Explain: spec.ExplainClock})
	if err != nil {
		panic(err)
	}
	t := result.Trial{Schema: result.Schema, Variant: v, Test: test, Local: result.End{Role: result.Local, RTT: hist.New(), Seen: &result.Seen{
		By: result.SeenByClock, Every: 1, OneClock: true, Trips: []result.SeenTrip{{N: 1, At: 5, Length: 1000}}}}}
	return compare.Kept{Run: result.Run{ID: "1"}, Trials: []result.Trial{t}}
}

func TestFormats(t *testing.T) {
	var names []string
	for _, f := range Formats() {
		names = append(names, f.Name)
		if f.About == "" {
			t.Errorf("%s has no description", f.Name)
		}
		got, err := FormatOf(f.Name)
		if err != nil || got.Name != f.Name {
			t.Errorf("FormatOf(%q) is %q, %v", f.Name, got.Name, err)
		}
		if got, err = FormatOfFile("a.b/report" + strings.ToUpper(f.Ending)); err != nil || got.Name != f.Name {
			t.Errorf("FormatOfFile with %s is %q, %v", f.Ending, got.Name, err)
		}
		for what, d := range documents(t) {
			var b bytes.Buffer
			if err := f.Render(&b, d, Options{Machines: true}); err != nil || !strings.HasSuffix(b.String(), "\n") {
				t.Errorf("%s of a %s: %v, ends with %q", f.Name, what, err, b.String()[max(0, b.Len()-1):])
			}
			if err := f.Render(fullDisk{}, d, Options{}); !errors.Is(err, errFull) {
				t.Errorf("%s of a %s on a full disk: %v", f.Name, what, err)
			}
		}
	}
	if want := []string{"text", "markdown", "html", "json", "csv", "bench", "trace"}; !slices.Equal(names, want) || !slices.Equal(FormatNames(), want) {
		t.Errorf("formats are %v, want %v", names, want)
	}
	for _, name := range []string{"", "yaml", "JSON"} {
		if _, err := FormatOf(name); err == nil || !strings.Contains(err.Error(), "valid are text, markdown, html, json, csv, bench, trace") {
			t.Errorf("FormatOf(%q): %v", name, err)
		}
	}
	for _, name := range []string{"", "report", "report.pdf", ".md/x"} {
		if _, err := FormatOfFile(name); err == nil || !strings.Contains(err.Error(), "valid are .txt, .md, .html, .json, .csv, .bench, .trace") {
			t.Errorf("FormatOfFile(%q): %v", name, err)
		}
	}
}

// What can be done next stands behind what people read, and in no form for programs.
func TestNext(t *testing.T) {
	for what, d := range documents(t) {
		for _, f := range Formats() {
			if f.Name == "html" {
				continue
			}
			var b bytes.Buffer
			if err := f.Render(&b, d, Options{Next: "go on like this"}); err != nil {
				t.Fatal(err)
			}
			if got, want := strings.Contains(b.String(), "\ngo on like this\n"), f.Name == "text"; got != want {
				t.Errorf("%s of a %s says so: %v, want %v", f.Name, what, got, want)
			}
		}
	}
}

var errFull = errors.New("no space left on device")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestJSONIsReadBack(t *testing.T) {
	for _, name := range []string{"rx-context", "partial", "factorial", "conditions", "runs", "few"} {
		want := kept(t, name)
		var b bytes.Buffer
		if err := JSON(&b, &want); err != nil {
			t.Fatal(err)
		}
		var got compare.Report
		d := json.NewDecoder(&b)
		d.DisallowUnknownFields()
		if err := d.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if rest, err := d.Token(); err == nil {
			t.Errorf("%s: %v follows the object", name, rest)
		}
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s is read back with a difference:\n%s", name, d)
		}
	}
}

// The fields that programs may rely on within schema netdelta.report/1, with
// the JSON type of each.
func TestStableSchema(t *testing.T) {
	r := kept(t, "rx-context")
	var b bytes.Buffer
	if err := JSON(&b, &r); err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(b.Bytes(), &object); err != nil {
		t.Fatal(err)
	}
	check := func(where string, fields map[string]any, want map[string]string) {
		t.Helper()
		for name, kind := range want {
			v, ok := fields[name]
			if got := kindOf(v); !ok || got != kind {
				t.Errorf("%s%s is %s, want %s", where, name, got, kind)
			}
		}
	}
	check("", object, map[string]string{"schema": "string", "experiment": "string", "seed": "number", "blocks": "number",
		"factors": "array", "comparisons": "array", "effects": "array", "warnings": "array", "trials": "number",
		"families": "object", "counts": "array", "losses": "array"})
	check("families.", object["families"].(map[string]any), map[string]string{"main": "number", "detail": "number"})
	for _, c := range object["counts"].([]any) {
		check("counts[].", c.(map[string]any), map[string]string{"test": "string", "params": "object", "variant": "string", "end": "string",
			"name": "string", "median": "number", "max": "number", "n": "number"})
	}
	for _, l := range object["losses"].([]any) {
		check("losses[].", l.(map[string]any), map[string]string{"test": "string", "params": "object", "variant": "string", "lost": "number",
			"places": "array", "unnamed": "number"})
		for _, p := range l.(map[string]any)["places"].([]any) {
			check("losses[].places[].", p.(map[string]any), map[string]string{"end": "string", "name": "string", "share": "number"})
		}
	}
	if object["schema"] != "netdelta.report/1" {
		t.Errorf("schema is %v", object["schema"])
	}
	factor := object["factors"].([]any)[0].(map[string]any)
	check("factors[].", factor, map[string]string{"name": "string", "levels": "array"})
	warning := object["warnings"].([]any)[0].(map[string]any)
	check("warnings[].", warning, map[string]string{"code": "string", "text": "string"})
	rows := object["comparisons"].([]any)
	for _, row := range rows {
		c := row.(map[string]any)
		want := map[string]string{"test": "string", "params": "object", "factor": "string", "metric": "string", "end": "string",
			"unit": "string", "better": "string", "baseline": "string", "variant": "string", "n": "number", "a": "object", "b": "object",
			"delta_pct": "number", "lo_pct": "number", "hi_pct": "number", "p": "number", "p_adj": "number", "verdict": "string", "warnings": "array"}
		if c["scale"] == "difference" {
			for _, name := range []string{"delta_pct", "lo_pct", "hi_pct"} {
				want[name] = "null"
			}
			want["delta"], want["lo"], want["hi"] = "number", "number", "number"
		}
		// A percentile that some trials have too few round trips for.
		few := c["metric"] == "rtt_p999" && c["n"] == 0.0
		for _, name := range []string{"delta_pct", "lo_pct", "hi_pct", "p", "p_adj"} {
			if few {
				want[name] = "null"
			}
		}
		check("comparisons[].", c, want)
		for _, side := range []string{"a", "b"} {
			if !few {
				check("comparisons[]."+side+".", c[side].(map[string]any), map[string]string{"median": "number", "lo": "number", "hi": "number"})
			}
		}
	}
}

// What a report on separate runs has beyond that.
func TestSchemaOfSeparateRuns(t *testing.T) {
	r := kept(t, "runs")
	var b bytes.Buffer
	if err := JSON(&b, &r); err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(b.Bytes(), &object); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{"schema": "netdelta.report/1", "experiment": "compare", "pairing": "none", "blocks": 0.0} {
		if object[name] != want {
			t.Errorf("%s is %v, want %v", name, object[name], want)
		}
	}
	row := object["comparisons"].([]any)[0].(map[string]any)
	for name, want := range map[string]any{"factor": "run", "baseline": "old", "variant": "new", "n": 10.0, "n_a": 10.0, "n_b": 15.0} {
		if row[name] != want {
			t.Errorf("%s of a row is %v, want %v", name, row[name], want)
		}
	}
	change := object["environment_diff"].([]any)[0]
	want := map[string]any{"end": "local", "name": "governor", "old": "", "new": "powersave"}
	if d := cmp.Diff(want, change); d != "" {
		t.Errorf("environment_diff: %s", d)
	}
	run := object["runs"].([]any)[2].(map[string]any)
	for name, want := range map[string]any{"side": "b", "label": "new", "target": "192.0.2.1", "state": "complete", "trials": 20.0, "start": "2001-09-09T04:46:40Z"} {
		if run[name] != want {
			t.Errorf("%s of a run is %v, want %v", name, run[name], want)
		}
	}
	p := kept(t, "rx-context")
	b.Reset()
	if err := JSON(&b, &p); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"environment_diff", "runs", "n_a", "spread"} {
		if strings.Contains(b.String(), `"`+name+`"`) {
			t.Errorf("a plan's report has %s", name)
		}
	}
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case float64:
		return "number"
	case bool:
		return "bool"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "unknown"
}

func TestJSONHasNoNaN(t *testing.T) {
	nan := math.NaN()
	r := compare.Report{Experiment: "x", Comparisons: []compare.Comparison{{P: &nan}}}
	var b bytes.Buffer
	if err := JSON(&b, &r); err == nil || b.Len() != 0 {
		t.Errorf("NaN gives %q, %v; want an error and nothing written", b.String(), err)
	}
}
