package picture

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/summary"
)

// labRun is a real run of a lab: two variants, two tests, twelve blocks.
func labRun(t testing.TB) compare.Kept {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "lab.netdelta"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := result.DecodeBundle(data)
	if err != nil {
		t.Fatal(err)
	}
	return compare.Kept(all[0])
}

func planned(t testing.TB) *compare.Document {
	t.Helper()
	k := labRun(t)
	r, err := compare.Build(*k.Run.Plan, k.Trials, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &compare.Document{Report: &r, Kept: []compare.Kept{k}}
}

func single(t testing.TB) *compare.Document {
	t.Helper()
	k := labRun(t)
	k.Trials = slices.DeleteFunc(k.Trials, func(x result.Trial) bool { return x.Variant["gro"] != "on" })
	for i := range k.Trials {
		k.Trials[i].Variant = nil
	}
	s := summary.Build(k.Run, k.Trials)
	return &compare.Document{Summary: &s, Kept: []compare.Kept{k}}
}

// kept is one of the made-up reports, without its trials.
func kept(t testing.TB, name string) *compare.Document {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "compare", "testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var r compare.Report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return &compare.Document{Report: &r}
}

// swept is a report on one test at four sizes.
func sweptSizes(t testing.TB) *compare.Document {
	d := planned(t)
	r := *d.Report
	r.Comparisons = nil
	for i, size := range []int{1, 64, 1024, 16384} {
		for _, c := range d.Report.Comparisons {
			if c.Test == "udp_rr" {
				c.Params.Size = size
				for _, s := range []*compare.Summary{&c.A, &c.B} {
					for _, p := range []**float64{&s.Median, &s.Lo, &s.Hi} {
						if *p != nil {
							v := **p * float64(1+i)
							*p = &v
						}
					}
				}
				r.Comparisons = append(r.Comparisons, c)
			}
		}
	}
	return &compare.Document{Report: &r, Kept: d.Kept}
}

var names = regexp.MustCompile(`^[a-z0-9._=-]+$`)

// check holds what every figure promises.
func check(t *testing.T, f *Figure) {
	t.Helper()
	if !names.MatchString(f.Name) || f.Title == "" || f.About == "" {
		t.Errorf("figure %q, %q, %q", f.Name, f.Title, f.About)
	}
	if f.Kind == Forest && len(f.Rows) == 0 || f.Kind != Forest && len(f.Series) == 0 {
		t.Errorf("%s has nothing in it", f.Name)
	}
	for _, r := range f.Rows {
		if math.IsInf(r.Est, 0) || math.IsNaN(r.Est) || r.Lo > r.Est || r.Est > r.Hi || r.Margin <= 0 || r.Label == "" || r.Group == "" || r.Change == "" {
			t.Errorf("%s: %+v", f.Name, r)
		}
	}
	for _, s := range f.Series {
		if s.Name == "" || len(s.X) == 0 || len(s.X) != len(s.Y) || len(s.X) > most+200 || s.Lo != nil && (len(s.Lo) != len(s.X) || len(s.Hi) != len(s.X)) {
			t.Errorf("%s, %s: %d and %d points, %d and %d bounds", f.Name, s.Name, len(s.X), len(s.Y), len(s.Lo), len(s.Hi))
		}
		for i := range s.X {
			if !finite(s.X[i]) || !finite(s.Y[i]) || s.Lo != nil && !(s.Lo[i] <= s.Y[i] && s.Y[i] <= s.Hi[i]) {
				t.Errorf("%s, %s: point %d is %v, %v", f.Name, s.Name, i, s.X[i], s.Y[i])
			}
			if f.X.Log && s.X[i] <= 0 || f.Y.Log && s.Y[i] < 0 {
				t.Errorf("%s, %s: %v, %v on an axis of logarithms", f.Name, s.Name, s.X[i], s.Y[i])
			}
			if i > 0 && f.Kind == Lines && s.X[i] < s.X[i-1] {
				t.Errorf("%s, %s goes back at %d", f.Name, s.Name, i)
			}
		}
	}
	if len(f.X.Ticks) > 0 && len(f.X.Ticks) != len(f.X.Categories) {
		t.Errorf("%s: %d ticks have %d names", f.Name, len(f.X.Ticks), len(f.X.Categories))
	}
}

func TestEveryFigure(t *testing.T) {
	for name, c := range map[string]struct {
		d    *compare.Document
		want []string
	}{
		"planned": {planned(t), []string{"forest", "ecdf.udp_rr-size=1", "percentiles.udp_rr-size=1", "blocks.tcp_stream-size=128kib", "blocks.udp_rr-size=1", "cost.cpu_per_op", "cost.cpu_per_byte", "values.tcp_stream-size=128kib", "values.udp_rr-size=1"}},
		"single":  {single(t), []string{"ecdf.udp_rr-size=1", "percentiles.udp_rr-size=1", "blocks.udp_rr-size=1", "cost.cpu_per_op"}},
		"sizes":   {sweptSizes(t), []string{"sweep.udp_rr.rtt_p50.local", "sweep.udp_rr.rate.local"}},
		"context": {kept(t, "rx-context"), []string{"forest"}},
		"two":     {kept(t, "factorial"), []string{"forest", "forest.interactions"}},
		"runs":    {kept(t, "runs"), []string{"forest"}},
		"partial": {kept(t, "partial"), nil},
		"few":     {kept(t, "few"), nil},
		"within":  {kept(t, "conditions"), []string{"forest"}},
		"nothing": {&compare.Document{}, nil},
	} {
		all := Of(c.d)
		if name == "nothing" && len(all) > 0 {
			t.Errorf("nothing has %q", Names(all))
		}
		seen := map[string]bool{}
		for i := range all {
			check(t, &all[i])
			if seen[all[i].Name] {
				t.Errorf("%s: %s is there twice", name, all[i].Name)
			}
			seen[all[i].Name] = true
		}
		for _, w := range c.want {
			if !seen[w] {
				t.Errorf("%s: no figure %s among %q", name, w, Names(all))
			}
		}
		if again := Of(c.d); !slices.Equal(Names(again), Names(all)) {
			t.Errorf("%s: another time it has %q", name, Names(again))
		}
	}
}

// The curve of shares ends at all of them, and its middle is the median that the
// histogram has.
func TestECDF(t *testing.T) {
	d := planned(t)
	all := Of(d)
	found, err := Named(all, "ecdf.udp_rr-size=1")
	if err != nil || len(found) != 1 || len(found[0].Series) != 2 {
		t.Fatalf("%d figures, %v", len(found), err)
	}
	for _, s := range found[0].Series {
		if !s.Step || s.Y[len(s.Y)-1] != 100 || !slices.IsSorted(s.Y) {
			t.Errorf("%s ends at %v", s.Name, s.Y[len(s.Y)-1])
		}
		half := slices.IndexFunc(s.Y, func(y float64) bool { return y >= 50 })
		set := roundTrips(slices.DeleteFunc(d.Trials(), func(o compare.Of) bool { return o.Variant != s.Name || o.Trial.Test.Name != "udp_rr" }))
		if want := set.quantile(0.5) / 1e3; math.Abs(s.X[half]-want) > 0.02*want {
			t.Errorf("%s: half of all by %v, the median is %v", s.Name, s.X[half], want)
		}
	}
	tail, err := Named(all, "percentiles.udp_rr-size=1")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range tail[0].Series {
		if !slices.IsSorted(s.Y) || s.X[0] != 1 {
			t.Errorf("%s: percentiles that fall, or begin at %v", s.Name, s.X[0])
		}
	}
}

// What is printed one by one is drawn, too.
func TestSinglesOfAnImport(t *testing.T) {
	trial := func(values ...float64) result.Trial {
		f := result.ImportedMetric(result.RTTMean, result.Local, 150, "", 1)
		f.Values = values
		return result.ImportedTrial(result.Imported{Tool: "ping", Name: "icmp_echo", Figures: []result.ImportedFigure{f}})
	}
	s := summary.Report{}
	d := compare.Document{Summary: &s, Kept: []compare.Kept{{Run: result.Run{ID: "a234567890"}, Trials: []result.Trial{trial(100, 200, 200, 300)}}}}
	all := Of(&d)
	found, err := Named(all, "ecdf")
	if err != nil || len(found) != 1 {
		t.Fatalf("%q, %v", Names(all), err)
	}
	if got := found[0].Series[0]; !slices.Equal(got.X, []float64{100, 200, 300}) || !slices.Equal(got.Y, []float64{25, 75, 100}) {
		t.Errorf("got %v, %v", got.X, got.Y)
	}
}

func TestNamed(t *testing.T) {
	all := Of(planned(t))
	if got, err := Named(all, "ecdf"); err != nil || len(got) != 1 {
		t.Errorf("ecdf: %d, %v", len(got), err)
	}
	if got, err := Named(all, "blocks."); err != nil || len(got) != 2 {
		t.Errorf("blocks.: %d, %v", len(got), err)
	}
	if _, err := Named(all, "pie"); err == nil || !regexp.MustCompile(`"pie".*forest`).MatchString(err.Error()) {
		t.Errorf("pie: %v", err)
	}
	if _, err := Named(nil, "forest"); err == nil {
		t.Error("a figure of nothing")
	}
}

func TestSafe(t *testing.T) {
	for text, want := range map[string]string{"udp_rr size=1": "udp_rr-size=1", "a/b\\c": "a-b-c", "../x": "x", "Ärger <b>": "rger-b", "": ""} {
		if got := safe(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
