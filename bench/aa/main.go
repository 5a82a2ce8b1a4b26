// Command aa compares a receive-handler context with itself, again and again,
// and counts the comparisons that see a difference. There is none, so those are
// false alarms. Beside each comparison as this program makes it, in blocks of
// random order, as many trials are measured in turn: those of the first half are
// called A, those of the second B, and Welch's t test at 5% says of each figure
// whether it differs. Both kinds alternate, so that they see the same machine.
//
//	go run ./bench/aa [-n 200] [-blocks 6] [-tests udp_rr,tcp_stream] [-link ether]
//
// With one test and 6 blocks a comparison of each kind takes some 3 s together on
// an idle machine, with two tests twice as long.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"time"

	"netdelta/internal/calibrate"
	"netdelta/internal/compare"
	"netdelta/internal/lab"
	"netdelta/internal/netlab"
	"netdelta/internal/result"
	"netdelta/internal/roles"
	"netdelta/internal/spec"
)

// settings are what the command line gives.
type settings struct {
	n, blocks   int
	link, level string
	tests       string
	window      time.Duration
	warmup      time.Duration
	seed        uint64
}

func main() {
	if status, ok := roles.Dispatch(os.Args[1:]); ok {
		os.Exit(status)
	}
	var s settings
	flag.IntVar(&s.n, "n", 20, "comparisons of each kind")
	flag.IntVar(&s.blocks, "blocks", 6, "blocks of each comparison")
	flag.StringVar(&s.link, "link", netlab.Ether, "link of the lab: ether or veth")
	flag.StringVar(&s.level, "level", "", "the level that is compared with itself (default: the link's usual one)")
	flag.StringVar(&s.tests, "tests", "udp_rr,tcp_stream", "tests, comma-separated")
	flag.DurationVar(&s.window, "time", spec.MinWindow, "measured window of one trial")
	flag.DurationVar(&s.warmup, "warmup", 10*time.Millisecond, "warm-up before each window")
	flag.Uint64Var(&s.seed, "seed", uint64(rand.Uint32()), "seed of the random orders")
	flag.Parse()
	if status, done, err := lab.InUserNamespace(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "aa:", err)
		os.Exit(1)
	} else if done {
		os.Exit(status)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var t tally
	err := s.repeat(ctx, &t)
	if t.paired.of > 0 {
		t.print(s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "aa:", err)
		os.Exit(1)
	}
}

// repeat makes the comparisons, in turn of each kind.
func (s *settings) repeat(ctx context.Context, t *tally) error {
	exp, err := lab.Find("rx-context")
	if err != nil {
		return err
	}
	o := lab.Options{Link: s.link, Blocks: s.blocks, Warmup: s.warmup, Window: s.window, Margin: 0.02,
		CPULocal: lab.Auto, CPURemote: lab.Auto, CPUWire: lab.Auto, CPUHandler: lab.Auto, Beside: []spec.Test{}}
	if o.Tests, err = spec.ParseTests(s.tests, nil); err != nil {
		return err
	}
	if o, err = exp.Complete(o); err != nil {
		return err
	}
	if s.level == "" {
		usual, err := exp.Plan(o)
		if err != nil {
			return err
		}
		s.level = usual.Baseline[usual.Factors[0].Name]
	}
	o.Levels = map[string][]string{"": {s.level, s.level + spec.Again}}
	o.Baseline = map[string]string{"": s.level}
	begun := time.Now()
	for i := range s.n {
		for arm := range 2 {
			o.Seed = s.seed + uint64(2*i+arm)
			plan, err := exp.Plan(o)
			if err != nil {
				return err
			}
			var trials []result.Trial
			err = lab.Run(ctx, plan, o, lab.Watch{Sink: func(t result.Trial) error { trials = append(trials, t); return nil }})
			if err != nil {
				return err
			}
			seen, err := calibrate.Once(calibrate.Series{Plan: plan, Trials: trials})
			if err != nil {
				return err
			}
			if seen.Blocks != s.blocks {
				return errors.New("blocks are missing")
			}
			if arm == 1 {
				t.turn.add(seen.InTurn, seen.Rows)
				t.turnHeads.add(seen.InTurnHead, len(plan.Tests))
				continue
			}
			r, err := compare.Build(plan, trials, compare.Options{})
			if err != nil {
				return err
			}
			t.report(i+1, &r)
			t.same.add(seen.InTurn, seen.Rows)
		}
		elapsed := time.Since(begun)
		fmt.Fprintf(os.Stderr, "\r%d of %d, %v left ", i+1, s.n, (elapsed / time.Duration(i+1) * time.Duration(s.n-i-1)).Round(time.Second))
	}
	fmt.Fprintln(os.Stderr)
	return nil
}
