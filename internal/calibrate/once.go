package calibrate

import (
	"errors"
	"math"

	"netdelta/internal/stats"
)

// Seen is what one comparison saw where there is nothing to see.
type Seen struct {
	// Blocks is how many complete blocks there were.
	Blocks int
	// Rows is how many figures were compared, and Paired how many of them differ
	// by blocks and the family's p at 5%.
	Rows, Paired int
	// InTurn and InTurnHead are how many figures, and headline figures, differ by
	// Welch's t at 5% if the first half of the trials was A and the second B.
	InTurn, InTurnHead int
}

// Once compares all blocks of a series, by blocks and as if they had been taken
// in turn. It fails where there is no complete block.
func Once(s Series) (Seen, error) {
	if len(s.Plan.Factors) != 1 || len(s.Plan.Factors[0].Levels) != 2 {
		return Seen{}, errOneFactor
	}
	f := figuresOf(s)
	if len(f.starts) == 0 {
		return Seen{}, errors.New("calibrate: no block is complete")
	}
	return f.seen(0, len(f.starts)), nil
}

var errOneFactor = errors.New("calibrate: a series needs one factor of two levels that are the same")

// seen compares some blocks.
func (f *figures) seen(from, to int) Seen {
	s := Seen{Blocks: to - from, Paired: f.differing(from, to, nil)}
	for i := range f.rows {
		r := &f.rows[i]
		_, _, p := stats.Welch(r.inTurn(from, to))
		if math.IsNaN(p) {
			continue
		}
		s.Rows++
		if p < level {
			s.InTurn++
			if r.head() {
				s.InTurnHead++
			}
		}
	}
	return s
}

// differing is how many figures of some blocks differ by the family's p. swapped
// says in which of them the two labels are exchanged; nil for none.
func (f *figures) differing(from, to int, swapped []bool) int {
	rows := make([][]float64, len(f.rows))
	for i := range rows {
		rows[i] = f.rows[i].differences(from, to)
		for j := range swapped {
			if swapped[j] {
				rows[i][j] = -rows[i][j]
			}
		}
	}
	_, adj := stats.SignFlip(rows, 1)
	n := 0
	for _, p := range adj {
		if p < level {
			n++
		}
	}
	return n
}
