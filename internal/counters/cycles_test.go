package counters

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEventsAreScaledByPeriod: counters that ran for half of one period and
// for all of the next.
func TestEventsAreScaledByPeriod(t *testing.T) {
	var total eventTotal
	for _, step := range []struct {
		now  eventCount
		want []int64
		ppm  int64
	}{
		{eventCount{100, 100, []uint64{1000, 500}}, []int64{1000, 500}, 1_000_000},
		{eventCount{300, 200, []uint64{1400, 600}}, []int64{1800, 700}, 500_000},
		{eventCount{400, 300, []uint64{1500, 650}}, []int64{1900, 750}, 1_000_000},
		{eventCount{400, 300, []uint64{1500, 650}}, []int64{1900, 750}, 1_000_000}, // no time at all
		{eventCount{700, 400, []uint64{1501, 650}}, []int64{1903, 750}, 333_333},
	} {
		ppm, err := total.add(step.now)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.want, total.totals); diff != "" || ppm != step.ppm {
			t.Errorf("%+v: %d ppm, want %d; totals (-want +got):\n%s", step.now, ppm, step.ppm, diff)
		}
	}
	if _, err := total.add(eventCount{800, 400, []uint64{1501, 650}}); err == nil {
		t.Error("no error though the counters did not run at all")
	}
}

// TestEventLevelIsTheLeast: counts of all CPUs add up, their shares do not.
func TestEventLevelIsTheLeast(t *testing.T) {
	s := newSample()
	for cpu, ppm := range []int64{900_000, 400_000, 1_000_000} {
		nameEvents(s, cycleEvents, cpu, &eventTotal{totals: []int64{10, 20}}, ppm)
	}
	want := map[string]int64{
		"cycles": 30, "cycles@0": 10, "cycles@1": 10, "cycles@2": 10,
		"instructions": 60, "instructions@0": 20, "instructions@1": 20, "instructions@2": 20,
	}
	if diff := cmp.Diff(want, s.counts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s.levels["running_ppm"] != 400_000 {
		t.Errorf("levels are %v", s.levels)
	}
}
