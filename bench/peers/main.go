// Command peers measures netdelta's instrument beside other tools: round
// trips over one veth pair between two namespaces, all tools once in each
// block in random order, bound to the same CPUs, and prints the ratios with
// their intervals. Absolute rates mean little on a shared machine; ratios of
// neighbours in time do.
//
// Run it as root: go run ./bench/peers [-blocks 8] [-time 1s] [-seed 1]
//
// Tools that are not on PATH are left out and said so.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"time"

	"netdelta/internal/netlab"
	"netdelta/internal/roles"
	"netdelta/internal/stats"
	"netdelta/internal/sys"
	"netdelta/internal/unit"
)

func main() {
	if status, ok := roles.Dispatch(os.Args[1:]); ok {
		os.Exit(status)
	}
	blocks := flag.Int("blocks", 8, "how often every tool is run")
	length := flag.Duration("time", time.Second, "length of one run; whole seconds for most tools")
	seed := flag.Uint64("seed", 1, "seed of the random order")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx, os.Stdout, *blocks, *length, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// place is where every tool runs.
type place struct {
	lab            *netlab.Lab
	link           *netlab.Link
	client, server int // CPUs
	length         time.Duration
}

func bench(ctx context.Context, w io.Writer, blocks int, length time.Duration, seed uint64) error {
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		return err
	}
	lab, err := netlab.New()
	if err != nil {
		return err
	}
	defer lab.Close()
	link, err := lab.Connect(ctx, netlab.LinkConfig{Kind: netlab.Veth, Context: "backlog", WireCPU: sys.NoCPU})
	if err != nil {
		return err
	}
	p := place{lab: lab, link: link, client: cpus[0], server: cpus[len(cpus)-1], length: length}

	for _, pattern := range []string{"udp_rr", "tcp_rr"} {
		if err := compareTools(ctx, w, p, pattern, blocks, seed); err != nil {
			return err
		}
	}
	return nil
}

// compareTools runs one pattern with every tool that has it.
func compareTools(ctx context.Context, w io.Writer, p place, pattern string, blocks int, seed uint64) error {
	present := []tool{ours(pattern)}
	for _, t := range peers(pattern) {
		if err := t.missing(); err != nil {
			fmt.Fprintf(w, "%s: %s left out: %v\n", pattern, t.name, err)
			continue
		}
		present = append(present, t)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	rates := make([][]float64, len(present))
	for range blocks {
		for _, i := range rng.Perm(len(present)) {
			rate, err := present[i].rate(ctx, p)
			if err != nil {
				return fmt.Errorf("%s by %s: %w", pattern, present[i].name, err)
			}
			rates[i] = append(rates[i], rate)
		}
	}
	fmt.Fprintf(w, "%s, %d blocks, seed %d, veth, client on CPU %d, server on CPU %d\n", pattern, blocks, seed, p.client, p.server)
	fmt.Fprintf(w, "  %-22s %12s   %s\n", "tool", "median rate", "netdelta's rate over its own")
	for i, t := range present {
		fmt.Fprintf(w, "  %-22s %12s", t.name, unit.Format(stats.Median(rates[i]), unit.PerSecond))
		if i > 0 {
			fmt.Fprintf(w, "   %s", ratio(rates[i], rates[0]))
		}
		fmt.Fprintln(w)
	}
	return nil
}

// ratio is b over a, paired by block, with its interval.
func ratio(a, b []float64) string {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = math.Log(b[i] / a[i])
	}
	iv := stats.SignedRank(d, 0.95)
	return fmt.Sprintf("%.2f (%.2f to %.2f, %.1f%%)", math.Exp(iv.Est), math.Exp(iv.Lo), math.Exp(iv.Hi), 100*iv.Level)
}
