package text

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/summary"
)

// keptRun reads one of the made-up reports that package summary keeps.
func keptRun(t testing.TB, name string) summary.Report {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "summary", "testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var r summary.Report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRunGolden(t *testing.T) {
	for _, name := range []string{"run", "partial", "nothing"} {
		r := keptRun(t, name)
		var b strings.Builder
		if err := RenderRun(&b, &r, name == "run", "Compare it: netdelta compare old NEW"); err != nil {
			t.Fatal(err)
		}
		checkPage(t, b.String())
		path := filepath.Join("testdata", "single-"+name+".golden")
		if *update {
			if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), b.String()); d != "" {
			t.Errorf("%s (-golden +got; if it should differ, run with -update):\n%s", name, d)
		}
	}
}

// Whatever is in a report, its text is a page.
func TestAnyRunIsAPage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		num := func() *float64 {
			return rapid.SampledFrom([]func() *float64{
				func() *float64 { return nil },
				func() *float64 { v := rapid.Float64Range(0, 1e15).Draw(t, "figure"); return &v },
			}).Draw(t, "kind")()
		}
		warning := func() []result.Warning {
			return []result.Warning{{Text: rapid.String().Draw(t, "text"), Advice: rapid.String().Draw(t, "advice")}}
		}
		r := summary.Report{
			ID: rapid.String().Draw(t, "id"), Label: rapid.String().Draw(t, "label"), Target: rapid.String().Draw(t, "target"),
			Trials: rapid.IntRange(0, 1e6).Draw(t, "trials"), Planned: rapid.IntRange(0, 1e6).Draw(t, "planned"),
			WindowNS: rapid.Int64Range(0, 4e12).Draw(t, "window"), Warnings: warning(),
			Environments: []result.Environment{{End: result.Local, Facts: []result.Fact{{Name: rapid.String().Draw(t, "fact"), Value: rapid.String().Draw(t, "value")}}}},
			Command:      rapid.String().Draw(t, "command"), Version: "0.1.0",
		}
		for _, k := range spec.Kinds() {
			test, err := spec.NewTest(k.Name, spec.Params{})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range result.Definitions(test) {
				r.Figures = append(r.Figures, summary.Figure{Test: test.Name, Params: test.Params, Under: rapid.String().Draw(t, "under"),
					Metric: d.Name, End: d.End, Unit: d.Unit, N: rapid.IntRange(0, 99999).Draw(t, "n"), Of: 99999,
					Median: num(), Lo: num(), Hi: num(), Min: num(), Max: num(), Confidence: rapid.Float64Range(0, 1).Draw(t, "level"), Warnings: warning()})
			}
		}
		var b strings.Builder
		if err := RenderRun(&b, &r, true, rapid.String().Draw(t, "next")); err != nil {
			t.Fatal(err)
		}
		checkPage(t, b.String())
	})
}
