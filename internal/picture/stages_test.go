package picture

import (
	"math"
	"strings"
	"testing"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stages"
	"netdelta/internal/summary"
)

// stageTable is one with two variants, of which the second's handler is due longer and
// its wire shorter.
func stageTable() stages.Table {
	est := 3000.0
	return stages.Table{
		Test: "udp_rr", Params: spec.Params{Size: 1}, By: result.SeenByBPF,
		Stages: []stages.Stage{{Name: "send", End: result.Local}, {Name: "wire"}, {Name: "handler due", End: result.Remote},
			{Name: "wake-up", End: result.Local, Leg: result.LegAnswer}, {Name: "not attributed", Rest: true}},
		Variants: []stages.Variant{{Name: "softirq", TotalNS: 30000, PartsNS: []float64{1000, 5000, 0, 24000, 0}},
			{Name: "kthread", TotalNS: 33000, PartsNS: []float64{1000, 3000, 5000, 23990, 10}}},
		Changes: []stages.Change{{Baseline: "softirq", Variant: "kthread", N: 8, Total: stages.Shift{Est: &est}, Pct: 10,
			MeansNS: []float64{0, -2000, 5000, -10, 10}, Parts: make([]stages.Shift, 5), Shares: make([]*float64, 5)}},
	}
}

func TestStagesAddUp(t *testing.T) {
	d := &compare.Document{Report: &compare.Report{Stages: []stages.Table{stageTable()}}}
	all := staged(d)
	if len(all) != 2 || all[0].Name != "stages.udp_rr-size=1" || all[1].Name != "waterfall.udp_rr-size=1.kthread" {
		t.Fatalf("figures: %v", Names(all))
	}
	f := &all[0]
	ends := []float64{0, 0}
	for _, s := range f.Spans {
		if s.From != ends[s.Row] || s.To <= s.From {
			t.Errorf("row %d: a span from %v to %v where %v was due", s.Row, s.From, s.To, ends[s.Row])
		}
		ends[s.Row] = s.To
	}
	if f.X.Unit != "us" || math.Abs(ends[0]-30) > 1e-9 || math.Abs(ends[1]-33) > 1e-9 {
		t.Errorf("rows end at %v %s", ends, f.X.Unit)
	}
	if names, _ := f.Names(); strings.Join(names, "|") != "sending|wire|wake-up|handler due|not attributed" {
		t.Errorf("names: %v", names)
	}
	if lo, hi := f.SpanRange(); lo != 0 || math.Abs(hi-33) > 1e-9 {
		t.Errorf("from %v to %v", lo, hi)
	}
}

func TestWaterfallLeadsToTheWhole(t *testing.T) {
	d := &compare.Document{Report: &compare.Report{Stages: []stages.Table{stageTable()}}}
	f := &staged(d)[1]
	at := 0.0
	for i, s := range f.Spans {
		if last := i == len(f.Spans)-1; last {
			if s.From != 0 || math.Abs(s.To-3) > 1e-9 || s.Value != "+3.00 us" || f.Y.Categories[i] != "whole" {
				t.Errorf("the whole: %+v", s)
			}
		} else if s.From != at {
			t.Errorf("%s begins at %v, the one before ended at %v", f.Y.Categories[i], s.From, at)
		} else {
			at = s.To
		}
	}
	if math.Abs(at-3) > 1e-9 {
		t.Errorf("the steps end at %v", at)
	}
	if lo, hi := f.SpanRange(); math.Abs(lo+2) > 1e-9 || math.Abs(hi-3) > 1e-9 {
		t.Errorf("from %v to %v", lo, hi)
	}
}

// A single run has a bar and no steps; where no block has both variants there are none
// either.
func TestStagesOfOneRun(t *testing.T) {
	table := stageTable()
	table.Changes[0].Total.Est = nil
	if all := staged(&compare.Document{Report: &compare.Report{Stages: []stages.Table{table}}}); len(all) != 1 {
		t.Errorf("figures: %v", Names(all))
	}
	table.Variants, table.Changes = table.Variants[:1], nil
	table.Variants[0].Name = ""
	all := staged(&compare.Document{Summary: &summary.Report{Stages: []stages.Table{table}}})
	if len(all) != 1 || all[0].Y.Categories[0] != "this run" {
		t.Errorf("figures: %v", Names(all))
	}
}
