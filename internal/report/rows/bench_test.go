package rows

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/summary"
)

func bench(t interface{ Fatal(...any) }, d *compare.Document) string {
	var b strings.Builder
	if err := Bench(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// results reads the format as its definition has it, and fails on every line that is
// none of it.
func results(t interface{ Fatalf(string, ...any) }, page string) (all []map[string]float64, names []string, better map[string]string) {
	better = map[string]string{}
	key := regexp.MustCompile(`^[a-z][^\sA-Z:]*:[ \t]+\S`)
	name := regexp.MustCompile(`^Benchmark[^\s/a-z][^\s/]*(/[^\s/=]+=[^\s/]+)*-[0-9]+$`)
	for i, line := range strings.Split(strings.TrimSuffix(page, "\n"), "\n") {
		fields := strings.Fields(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#") || key.MatchString(line):
		case fields[0] == "Unit":
			if len(fields) != 3 || fields[2] != "better=lower" && fields[2] != "better=higher" {
				t.Fatalf("line %d: %q", i+1, line)
			}
			if better[fields[1]] != "" {
				t.Fatalf("line %d says a unit again: %q", i+1, line)
			}
			better[fields[1]] = fields[2]
		case strings.HasPrefix(line, "Benchmark"):
			if len(fields) < 4 || len(fields)%2 != 0 || !name.MatchString(fields[0]) {
				t.Fatalf("line %d is no result: %q", i+1, line)
			}
			if n, err := strconv.Atoi(fields[1]); err != nil || n < 1 {
				t.Fatalf("line %d has %q iterations", i+1, fields[1])
			}
			values := map[string]float64{}
			for j := 2; j < len(fields); j += 2 {
				v, err := strconv.ParseFloat(fields[j], 64)
				if _, twice := values[fields[j+1]]; err != nil || twice {
					t.Fatalf("line %d: %q %q", i+1, fields[j], fields[j+1])
				}
				values[fields[j+1]] = v
			}
			all, names = append(all, values), append(names, fields[0])
		default:
			t.Fatalf("line %d is none of the format: %q", i+1, line)
		}
	}
	return all, names, better
}

func TestBenchGolden(t *testing.T) {
	for name, d := range map[string]*compare.Document{"planned": planned(t), "separate": separate(t), "imported": imported(t)} {
		got := bench(t, d)
		results(t, got)
		golden(t, name+".bench", got)
	}
}

// The baseline comes first, so that benchstat holds the others against it, and a test
// has one name but for its variant.
func TestBenchNames(t *testing.T) {
	all, names, better := results(t, bench(t, planned(t)))
	if len(all) != 24 || names[0] != "BenchmarkUdp_rr/size=1/rx=softirq-1" || names[12] != "BenchmarkUdp_rr/size=1/rx=napi-2-1" {
		t.Errorf("%d results, the first of each variant %s and %s", len(all), names[0], names[12])
	}
	if all[0]["rtt_p50-ns"] == 0 || all[0]["rate/s"] != 1000 || all[6]["goodput-bit/s"] != 8e9 {
		t.Errorf("got %v and %v", all[0], all[6])
	}
	if _, there := all[6]["retransmits/s"]; there {
		t.Error("mishaps that never happened are there")
	}
	if _, there := all[0]["rtt_min-ns"]; there {
		t.Error("details are there")
	}
	if better["rtt_p50-ns"] != "better=lower" || better["goodput-bit/s"] != "better=higher" || better["rate/s"] != "better=higher" {
		t.Errorf("got %v", better)
	}
	if _, names, _ := results(t, bench(t, separate(t))); names[0] != "BenchmarkUdp_rr/size=1/run=old-1" || names[5] != "BenchmarkUdp_rr/size=1/run=new-1" {
		t.Errorf("separate runs: %q", names)
	}
}

// What a level sets is not in the name that variants share.
func TestBenchWithoutWhatVaries(t *testing.T) {
	d := planned(t)
	for i := range d.Report.Comparisons {
		d.Report.Comparisons[i].Varied = []string{"size"}
	}
	if _, names, _ := results(t, bench(t, d)); names[0] != "BenchmarkUdp_rr/rx=softirq-1" {
		t.Errorf("got %s", names[0])
	}
}

// Whatever something is called, the format holds.
func TestBenchOfAnyNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ /=:\-\n\tA-z0-9#*]{0,12}`))
		name := func(what string) string { return text.Draw(t, what) }
		var figures []result.ImportedFigure
		for i := range rapid.IntRange(1, 3).Draw(t, "figures") {
			figures = append(figures, result.ImportedFigure{Metric: fmt.Sprint(name("metric"), i), Unit: "x y", Better: result.Higher, Value: rapid.Float64Range(0, 1e300).Draw(t, "value")})
		}
		x := result.ImportedTrial(result.Imported{Tool: name("tool"), Name: name("name"), Params: []result.Fact{{Name: name("param"), Value: name("value")}}, Figures: figures})
		x.Variant = spec.Variant{name("factor"): name("level")}
		s := summary.Build(result.Run{Version: name("version")}, []result.Trial{x})
		s.Version = name("version")
		results(t, bench(t, &compare.Document{Summary: &s, Kept: []compare.Kept{{Trials: []result.Trial{x}}}}))
	})
}

func TestUnits(t *testing.T) {
	s := &sheet{both: map[string]bool{"cpu": true}}
	for want, m := range map[string]result.Metric{
		"rtt_p50-ns":            {Name: "rtt_p50", End: "local", Unit: "ns"},
		"cpu.remote-sec/s":      {Name: "cpu", End: "remote", Unit: "s/s"},
		"cpu_per_byte-sec/B":    {Name: "cpu_per_byte", Unit: "s/B"},
		"loss-share":            {Name: "loss", Unit: "share"},
		"interrupts_per_packet": {Name: "interrupts_per_packet", Unit: "1/packet"},
		"a_b_c-x_y/z":           {Name: "a-b/c", Unit: "x y/z"},
		"plain":                 {Name: "plain"},
	} {
		if got := s.unit(m); got != want {
			t.Errorf("%+v is %q, want %q", m, got, want)
		}
	}
}
