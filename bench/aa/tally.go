package main

import (
	"fmt"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/stats"
)

// counted is how many of some comparisons saw a difference, and in how many of
// their figures.
type counted struct{ alarms, of, rowAlarms, rows int }

func (c *counted) add(differ, rows int) {
	c.of++
	c.rows += rows
	c.rowAlarms += differ
	if differ > 0 {
		c.alarms++
	}
}

// tally is what all comparisons saw.
type tally struct {
	// paired are in blocks: figures whose p, adjusted for the family, is below 5%;
	// bare are those whose own p is, and verdicts those told better or worse.
	paired, bare, verdicts counted
	// turn were measured in turn, turnHeads is of their headline figures alone;
	// same are the trials of paired, halved in the order in which they ran.
	turn, turnHeads, same counted
}

// report takes a comparison in blocks in.
func (t *tally) report(i int, r *compare.Report) {
	rows, adjusted, bare, verdicts := 0, 0, 0, 0
	for _, c := range r.Comparisons {
		if c.P == nil || c.PAdj == nil || c.Rank() == result.Detail {
			continue
		}
		rows++
		if *c.P < 0.05 {
			bare++
		}
		if *c.PAdj < 0.05 {
			adjusted++
			fmt.Printf("comparison %d, seed %d: %s %s differs (%s)\n", i, r.Seed, c.Test, c.Metric, c.Verdict)
		}
		if c.Verdict == compare.Better || c.Verdict == compare.Worse {
			verdicts++
		}
	}
	t.paired.add(adjusted, rows)
	t.bare.add(bare, rows)
	t.verdicts.add(verdicts, rows)
}

func (t *tally) print(s settings) {
	fmt.Printf("%s against itself, %d blocks of %v, %s on %s, seed %d\n", s.level, s.blocks, s.window, s.tests, s.link, s.seed)
	fmt.Println("comparisons with any false alarm (95% interval), and figures:")
	for _, line := range []struct {
		name string
		c    counted
	}{
		{"in blocks, p of the family below 5%", t.paired},
		{"in blocks, verdict better or worse", t.verdicts},
		{"in blocks, a figure's own p below 5%", t.bare},
		{"in turn, Welch's t, any figure", t.turn},
		{"in turn, Welch's t, any headline figure", t.turnHeads},
		{"the trials in blocks, halved in order, Welch's t", t.same},
	} {
		c := line.c
		in := stats.ShareInterval(c.alarms, c.of, 0.95)
		fmt.Printf("  %-49s %4d of %4d, %5.1f%% (%.1f to %.1f); %d of %d figures\n",
			line.name, c.alarms, c.of, 100*in.Est, 100*in.Lo, 100*in.Hi, c.rowAlarms, c.rows)
	}
}
