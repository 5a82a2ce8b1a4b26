package calibrate

import "netdelta/internal/result"

// pace is the time that a block takes and, for each trial, that part of it in
// which nothing is measured; nil where it can't be told. It is worked out from
// the starts of trials that ran right after one another, by their Order: those on
// one path and those with a new path between them apart, since a block has of
// each what its tests ask for. What other windows had in between is no part.
func (f *figures) pace(trials []result.Trial) (block, overhead *int64) {
	byOrder := map[int]*result.Trial{}
	for i := range trials {
		byOrder[trials[i].Order] = &trials[i]
	}
	factor := f.plan.Factors[0].Name
	var within, between mean
	for i := range trials {
		t := &trials[i]
		next := byOrder[t.Order+1]
		if next == nil || !next.Start.After(t.Start) {
			continue
		}
		m := &between
		if next.Block == t.Block && next.Variant[factor] == t.Variant[factor] {
			m = &within
		}
		m.add(float64(next.Start.Sub(t.Start)))
	}
	tests := len(f.plan.Tests)
	if between.n == 0 || tests > 1 && within.n == 0 {
		return nil, nil
	}
	b := int64(2 * (between.mean() + float64(tests-1)*within.mean()))
	o := max(0, b/int64(2*tests)-int64(f.plan.Window))
	return &b, &o
}

// mean is that of what was added; 0 of nothing.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(v float64) { m.sum += v; m.n++ }

func (m *mean) mean() float64 {
	if m.n == 0 {
		return 0
	}
	return m.sum / float64(m.n)
}
