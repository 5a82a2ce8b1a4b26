package rows

import (
	"encoding/csv"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/summary"
)

func write(t interface{ Fatal(...any) }, d *compare.Document) string {
	var b strings.Builder
	if err := CSV(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// readBack is a CSV's rows by the names of their columns.
func readBack(t interface{ Fatal(...any) }, page string) (all []map[string]string) {
	lines, err := csv.NewReader(strings.NewReader(page)).ReadAll() // as many cells in each
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = line[i]
		}
		all = append(all, row)
	}
	return all
}

func TestCSVGolden(t *testing.T) {
	golden(t, "planned.csv", write(t, planned(t)))
	golden(t, "separate.csv", write(t, separate(t)))
	golden(t, "imported.csv", write(t, imported(t)))
}

// Every figure of every trial is there, exactly, and beside it where it comes from.
func TestCSVHasEveryFigure(t *testing.T) {
	for _, d := range []*compare.Document{planned(t), separate(t), imported(t)} {
		rows := readBack(t, write(t, d))
		at := 0
		for _, o := range d.Trials() {
			for _, m := range o.Trial.Metrics() {
				row := rows[at]
				at++
				v, err := strconv.ParseFloat(row["value"], 64)
				if err != nil || v != m.Value || row["unit"] != string(m.Unit) || row["end"] != m.End || row["better"] != string(m.Better) ||
					row["run"] != o.Run.ID || row["variant"] != o.Variant || row["order"] != strconv.Itoa(o.Trial.Order) {
					t.Errorf("%s of order %d is %v", m.Name, o.Trial.Order, row)
				}
			}
			for at < len(rows) && rows[at]["value"] == "" {
				if rows[at]["warnings"] == "" {
					t.Errorf("no figure, and no reason: %v", rows[at])
				}
				at++
			}
		}
		if at != len(rows) {
			t.Errorf("%d rows, of which %d are of figures", len(rows), at)
		}
	}
}

func TestCSVWarnings(t *testing.T) {
	for _, row := range readBack(t, write(t, planned(t))) {
		loopback, few := strings.Contains(row["warnings"], "loopback"), strings.Contains(row["warnings"], "few-samples")
		if first := row["order"] == "0"; loopback != first || few != (first && row["metric"] == "rtt_p99") {
			t.Errorf("order %s, %s: warnings %q", row["order"], row["metric"], row["warnings"])
		}
	}
}

// A trial that could not be had is a row all the same.
func TestCSVOfNothing(t *testing.T) {
	x := result.Trial{Test: test(t, "udp_rr", spec.Params{}), Local: result.End{Role: result.Local}, Warnings: []result.Warning{{Code: result.Unavailable, Text: "no such host"}}}
	s := summary.Build(result.Run{}, []result.Trial{x})
	rows := readBack(t, write(t, &compare.Document{Summary: &s, Kept: []compare.Kept{{Trials: []result.Trial{x}}}}))
	if len(rows) != 1 || rows[0]["value"] != "" || rows[0]["warnings"] != result.Unavailable {
		t.Errorf("got %v", rows)
	}
}

// No text is taken for a formula, and every number is one.
func TestCSVIsNoProgram(t *testing.T) {
	nasty := []string{"=", "+", "-", "@", "\t", "\r\n", "\"", ",", "'", ";", " ", "1", "a", "=cmd|' /C calc'!A0", "\x00", "\xff", "＝", "\u2028"}
	rapid.Check(t, func(t *rapid.T) {
		bad := rapid.StringOf(rapid.RuneFrom([]rune("=+-@\t\n\r\",;' a1|"))).Draw(t, "text") + strings.Join(rapid.SliceOf(rapid.SampledFrom(nasty)).Draw(t, "parts"), "")
		v := rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64).Draw(t, "value")
		x := result.ImportedTrial(result.Imported{Tool: bad, Name: bad, Figures: []result.ImportedFigure{{Metric: bad, Unit: "ns", Better: result.Lower, Value: v}}}, result.Warning{Code: bad, Text: bad})
		x.Variant = spec.Variant{bad: bad}
		run := result.Run{ID: bad, Label: bad}
		s := summary.Build(run, []result.Trial{x})
		page := write(t, &compare.Document{Summary: &s, Kept: []compare.Kept{{Run: run, Trials: []result.Trial{x}}}})
		if strings.Count(page, "\n") != 2 {
			t.Fatalf("not a line a row: %q", page)
		}
		for _, row := range readBack(t, page) {
			for name, c := range row {
				if !utf8.ValidString(c) {
					t.Fatalf("%s is no UTF-8: %q", name, c)
				}
				if name == "value" {
					if got, err := strconv.ParseFloat(c, 64); err != nil || got != v {
						t.Fatalf("value %v was written as %q", v, c)
					}
					continue
				}
				if bare := strings.TrimLeft(c, " "); bare != "" && strings.ContainsAny(bare[:1], "=+-@") {
					t.Fatalf("%s would be a formula: %q", name, c)
				}
			}
		}
	})
}

func TestFactorsInThePlansOrder(t *testing.T) {
	run := result.Run{Plan: &spec.Plan{Factors: []spec.Factor{{Name: "z"}, {Name: "b"}}}}
	got := factorsOf([]compare.Of{{Run: &run, Trial: &result.Trial{Variant: spec.Variant{"c": "1", "a": "1", "z": "1"}}}})
	if want := []string{"z", "b", "a", "c"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestImportHasNoTimes(t *testing.T) {
	for _, row := range readBack(t, write(t, imported(t))) {
		if row["start"] != "" || row["window_s"] != "" {
			t.Errorf("times nobody told: %v", row)
		}
	}
	for _, row := range readBack(t, write(t, planned(t))) {
		if _, err := time.Parse(time.RFC3339Nano, row["start"]); err != nil || row["window_s"] != "1" {
			t.Errorf("start %q, window %q", row["start"], row["window_s"])
		}
	}
}

var errFull = errors.New("no space left on device")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestFullDisk(t *testing.T) {
	for _, write := range []func(*compare.Document) error{
		func(d *compare.Document) error { return CSV(fullDisk{}, d) },
		func(d *compare.Document) error { return Bench(fullDisk{}, d) },
	} {
		if err := write(planned(t)); !errors.Is(err, errFull) {
			t.Errorf("got %v", err)
		}
	}
}
