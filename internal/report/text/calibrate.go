package text

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"netdelta/internal/calibrate"
	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// RenderCalibration writes what a path's figures can bear: in sentences first,
// then the figures behind them.
func RenderCalibration(w io.Writer, r *calibrate.Report) error {
	var parts [][]string
	var answer []string
	for _, s := range r.Answer {
		answer = append(answer, wrap(s, "", "  ")...)
	}
	parts = append(parts, answer, calibrated(r))
	for _, b := range []block{noiseTable(r), detectableTable(r), alarmTable(r)} {
		parts = append(parts, sections([]block{b})...)
	}
	parts = append(parts, calibrationNotes(r), plainWarnings(r.Warnings),
		facts(&compare.Report{Environment: r.Environment}), command(&compare.Report{Command: r.Command, Version: r.Version}))
	var paragraphs []string
	for _, lines := range parts {
		if len(lines) > 0 {
			paragraphs = append(paragraphs, strings.Join(lines, "\n")+"\n")
		}
	}
	_, err := io.WriteString(w, strings.Join(paragraphs, "\n"))
	return err
}

// calibrated tells how the figures came about.
func calibrated(r *calibrate.Report) []string {
	var windows []string
	for _, w := range r.Windows {
		windows = append(windows, fmt.Sprintf("%s of %v", unit.Count(w.Blocks, "block"), time.Duration(w.WindowNS)))
	}
	target := "the path to " + r.Target
	if r.Target == "lab" {
		target = "a lab's link"
	}
	return wrap(fmt.Sprintf("One thing under two names, on %s: %s in %v, in turn and in random order (seed %d); %s.",
		target, strings.Join(windows, ", "), time.Duration(r.TookNS).Round(time.Second), r.Seed, unit.Count(r.Trials, "trial")), "", "")
}

// eachFloor calls test before the first window of each headline figure, and f
// with every window that has it.
func eachFloor(r *calibrate.Report, test func(string), f func(*calibrate.Window, *calibrate.Floor)) {
	type key struct {
		of          spec.Test
		metric, end string
	}
	seen := map[key]bool{}
	for i := range r.Windows {
		for j := range r.Windows[i].Floors {
			k := key{r.Windows[i].Floors[j].Of(), r.Windows[i].Floors[j].Metric, r.Windows[i].Floors[j].End}
			if seen[k] {
				continue
			}
			seen[k] = true
			test(k.of.String() + ", " + k.metric)
			for a := range r.Windows {
				for b := range r.Windows[a].Floors {
					if fl := &r.Windows[a].Floors[b]; fl.Of() == k.of && fl.Metric == k.metric && fl.End == k.end {
						f(&r.Windows[a], fl)
					}
				}
			}
		}
	}
}

func noiseTable(r *calibrate.Report) block {
	t := table{head: []string{"window", "median", "blocks", "a block", "overhead", "noise", "+-", "swing", "next"},
		right: []bool{true, true, true, true, true, true, true, true, true}}
	eachFloor(r, func(test string) { t.add(test) }, func(w *calibrate.Window, fl *calibrate.Floor) {
		median := "n/a"
		if fl.Median != nil {
			median = unit.Format(*fl.Median, fl.Unit)
		}
		next := "n/a"
		if fl.Autocorrelation != nil {
			next = strconv.FormatFloat(*fl.Autocorrelation, 'f', 2, 64)
		}
		t.add(time.Duration(w.WindowNS).String(), median, strconv.Itoa(fl.N), shortTime(w.BlockNS), overheadShare(w), shortPercent(fl.NoisePct), shortPercent(fl.HalfWidthPct), shortPercent(fl.SwingPct), next)
	})
	return block{"The noise of one block, and what drifts", t}
}

func detectableTable(r *calibrate.Report) block {
	t := table{}
	eachFloor(r, func(test string) { t.add(test) }, func(w *calibrate.Window, fl *calibrate.Floor) {
		if len(fl.Detectable) == 0 {
			return
		}
		if t.head == nil {
			t.head, t.right = []string{"blocks"}, []bool{true}
			for _, d := range fl.Detectable {
				t.head, t.right = append(t.head, strconv.Itoa(d.Blocks)), append(t.right, true)
			}
		}
		cells := []string{time.Duration(w.WindowNS).String()}
		for _, d := range fl.Detectable {
			cells = append(cells, shortPercent(d.EffectPct)+" "+shortTime(d.TimeNS))
		}
		t.add(cells...)
	})
	if t.head == nil {
		t.rows = nil
	}
	return block{"The smallest change that is seen in 80%, and the time that it takes", t}
}

func alarmTable(r *calibrate.Report) block {
	t := table{head: []string{"window", "blocks", "within", "pairs", "redrawn", "A then B", "its headlines", "its rows"},
		right: []bool{true, true, true, true, true, true, true, true}}
	for _, w := range r.Windows {
		for _, a := range w.Alarms {
			span := a.SpanNS
			t.add(time.Duration(w.WindowNS).String(), strconv.Itoa(a.Blocks), shortTime(&span), countOf(a.Paired), sharePercent(a.Redrawn),
				countOf(a.InTurn), countOf(a.InTurnHead), sharePercent(a.InTurnRows))
		}
	}
	return block{"Comparisons that saw a difference where there is none", t}
}

// calibrationNotes explains what the tables leave unsaid.
func calibrationNotes(r *calibrate.Report) []string {
	var lines []string
	rows, noisy, alarms := 0, false, false
	for _, w := range r.Windows {
		rows = max(rows, w.Rows)
		noisy = noisy || len(w.Floors) > 0
		alarms = alarms || len(w.Alarms) > 0
	}
	for _, term := range []struct {
		word, meaning string
		used          bool
	}{
		{"overhead", "share of the time in which nothing is measured", noisy},
		{"noise", "standard deviation of the difference within a block", noisy},
		{"+-", "reach of the 95% interval if all the time were this window's, as long as it had on average", noisy},
		{"swing", "between the highest and lowest running median of 5 blocks", noisy},
		{"next", "correlation of a block's level with the next one's", noisy},
		{"is seen", fmt.Sprintf("with p below 5%%, adjusted for the %s of a report", unit.Count(rows, "figure")), noisy},
		{"within", "time from the first to the last trial, with what other windows had in between", alarms},
		{"pairs", "as this program compares; redrawn with labels drawn anew within the blocks", alarms},
		{"A then B", "the first half of the same trials against the second, Welch's t at 5%: in any figure, any headline figure, and of all figures", alarms},
	} {
		if term.used {
			lines = append(lines, wrap(term.meaning, fmt.Sprintf("  %-8s  ", term.word), strings.Repeat(" ", 12))...)
		}
	}
	return lines
}

func plainWarnings(all []result.Warning) []string {
	var lines []string
	for _, w := range all {
		text := w.Text
		if w.Advice != "" {
			text += ": " + w.Advice
		}
		lines = append(lines, wrap(text+".", "! ", "  ")...)
	}
	return lines
}

// shortPercent writes a percentage in few columns.
func shortPercent(p *float64) string {
	switch {
	case p == nil:
		return "n/a"
	case *p >= 1000:
		return ">999%"
	}
	return unit.FormatIn(*p, 1) + "%"
}

// shortTime writes a length of time in few columns.
func shortTime(ns *int64) string {
	if ns == nil {
		return "n/a"
	}
	switch s := time.Duration(*ns).Seconds(); {
	case s < 9.95:
		return fmt.Sprintf("%.1fs", s)
	case s < 99.5:
		return fmt.Sprintf("%.0fs", s)
	case s < 5970:
		return fmt.Sprintf("%.0fm", s/60)
	default:
		return fmt.Sprintf("%.0fh", s/3600)
	}
}

func overheadShare(w *calibrate.Window) string {
	if w.OverheadNS == nil {
		return "n/a"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(*w.OverheadNS)/float64(*w.OverheadNS+w.WindowNS))
}

func countOf(s calibrate.Share) string { return fmt.Sprintf("%d/%d", s.Count, s.Of) }

func sharePercent(s calibrate.Share) string {
	if s.Pct == nil {
		return "n/a"
	}
	return fmt.Sprintf("%.0f%%", *s.Pct)
}
