// Command aa compares a receive-handler context with itself, again and again,
// and counts the reports that see a difference. There is none, so those are
// false alarms; the family's adjustment promises at most 5% of the reports.
//
//	go run ./bench/aa [-n 20] [-level softirq] [lab flags, such as --time 100ms]
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"netdelta/internal/cli"
	"netdelta/internal/compare"
	"netdelta/internal/lab"
	"netdelta/internal/roles"
)

func main() {
	if status, ok := roles.Dispatch(os.Args[1:]); ok {
		os.Exit(status)
	}
	n := flag.Int("n", 20, "reports")
	level := flag.String("level", "softirq", "the level that is compared with itself")
	flag.Parse()
	if status, done, err := lab.InUserNamespace(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "aa:", err)
		os.Exit(1)
	} else if done {
		os.Exit(status)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := repeat(ctx, *n, *level, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "aa:", err)
		os.Exit(1)
	}
}

func repeat(ctx context.Context, n int, level string, more []string) error {
	args := append([]string{"lab", "rx-context", "--levels", level + "," + level + "-again", "--format", "json"}, more...)
	alarms, rows, rowAlarms, bare := 0, 0, 0, 0
	for i := range n {
		var out bytes.Buffer
		if status := cli.Run(ctx, args, &out, os.Stderr); status != cli.ExitDone {
			return fmt.Errorf("repetition %d ended with status %d", i+1, status)
		}
		var r compare.Report
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			return err
		}
		alarm := false
		for _, c := range r.Comparisons {
			rows++
			if c.P != nil && *c.P < 0.05 {
				bare++
			}
			if c.Verdict == compare.Better || c.Verdict == compare.Worse {
				rowAlarms++
				alarm = true
				fmt.Printf("report %d, seed %d: %s %s %s\n", i+1, r.Seed, c.Test, c.Metric, c.Verdict)
			}
		}
		if alarm {
			alarms++
		}
	}
	fmt.Printf("%s against itself: %d of %d reports with a false alarm, %d of %d rows; %d rows have p below 5%% unadjusted\n",
		level, alarms, n, rowAlarms, rows, bare)
	return nil
}
