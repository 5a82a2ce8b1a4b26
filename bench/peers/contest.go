package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"netdelta/internal/feature"
	"netdelta/internal/stats"
	"netdelta/internal/unit"
)

// figure is what a tool prints of a run.
type figure string

const (
	rate    figure = "rate"        // round trips, connections or datagrams received, per second
	goodput figure = "goodput"     // payload bits received per second
	p999    figure = "p99.9 in ns" // of round trips
	sends   figure = "send calls per MB"
	recvs   figure = "receive calls per MB"
	copied  figure = "sends that were copied" // of those that asked not to be
)

func (f figure) format(v float64) string {
	switch f {
	case goodput:
		return unit.Format(v, unit.BitsPerSecond)
	case p999:
		return unit.Format(v, unit.Nanoseconds)
	case copied:
		return unit.Format(v, unit.Share)
	case sends, recvs:
		return fmt.Sprintf("%.1f", v)
	}
	return unit.Format(v, unit.PerSecond)
}

// compared says that ratios of the figure mean something.
func (f figure) compared() bool { return f == rate || f == goodput || f == p999 }

// figures are those of one run.
type figures map[figure]float64

// tool is one row of a contest.
type tool struct {
	name    string
	missing func() error // why it cannot take part; nil if it can
	run     func(context.Context, place) (figures, error)
}

// contest is one thing that several tools can do.
type contest struct {
	name   string
	what   string
	ours   []tool
	peers  []tool
	judged []figure
	// ways has netdelta's own ways of doing one thing compared with the first
	// of them: the ratio is of the other to that.
	ways bool
}

// run has every tool that is there run in each block, and prints how netdelta's
// figures relate to the others'.
func (c contest) run(ctx context.Context, w io.Writer, p place, blocks int, seed uint64) error {
	fmt.Fprintf(w, "\n%s: %s\n", c.name, c.what)
	present := append([]tool(nil), c.ours...)
	for _, t := range c.peers {
		if err := t.missing(); err != nil {
			fmt.Fprintf(w, "  %s left out: %v\n", t.name, err)
			continue
		}
		present = append(present, t)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	all := make([][]figures, len(present))
	refused := make([]bool, len(present))
	for range blocks {
		for _, i := range rng.Perm(len(present)) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if refused[i] {
				continue
			}
			f, err := present[i].run(ctx, p)
			if errors.Is(err, feature.ErrUnavailable) {
				fmt.Fprintf(w, "  %s is unavailable: %v\n", present[i].name, err)
				refused[i] = true
				continue
			}
			if err != nil {
				return fmt.Errorf("%s: %w", present[i].name, err)
			}
			all[i] = append(all[i], f)
		}
	}
	for _, f := range c.judged {
		c.print(w, f, present, all)
	}
	return nil
}

// print is the table of one figure: medians, and for each of netdelta's ways
// its ratio to every other tool.
func (c contest) print(w io.Writer, f figure, present []tool, all [][]figures) {
	fmt.Fprintf(w, "  %-30s %14s", f, "median")
	columns := c.ours
	if c.ways {
		columns = c.ours[:1]
	}
	for _, o := range columns {
		head := o.name + " /"
		if c.ways {
			head = "/ " + o.name
		}
		fmt.Fprintf(w, "   %-22s", head)
	}
	fmt.Fprintln(w)
	for i, t := range present {
		values := series(all[i], f)
		if len(values) == 0 {
			continue
		}
		fmt.Fprintf(w, "  %-30s %14s", t.name, f.format(stats.Median(values)))
		for j := range columns {
			if j >= i || !f.compared() {
				continue
			}
			a, b := values, series(all[j], f)
			if c.ways {
				a, b = b, a
			}
			fmt.Fprintf(w, "   %-22s", ratio(a, b))
		}
		fmt.Fprintln(w)
	}
}

func series(runs []figures, f figure) []float64 {
	var values []float64
	for _, r := range runs {
		if v, ok := r[f]; ok {
			values = append(values, v)
		}
	}
	return values
}

// ratio is b over a, paired by block, with its interval.
func ratio(a, b []float64) string {
	if len(a) != len(b) {
		return ""
	}
	d := make([]float64, len(a))
	for i := range a {
		d[i] = math.Log(b[i] / a[i])
	}
	iv := stats.SignedRank(d, 0.95)
	return fmt.Sprintf("%.2f (%.2f to %.2f)", math.Exp(iv.Est), math.Exp(iv.Lo), math.Exp(iv.Hi))
}
