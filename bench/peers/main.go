// Command peers measures netdelta's instrument beside other tools: over one
// veth pair between two namespaces, every tool of a contest once in each block
// in random order, bound to the same CPUs, and prints the ratios of netdelta's
// figures to theirs with intervals. Absolute rates mean little on a shared
// machine; ratios of neighbours in time do.
//
//	go run ./bench/peers [-blocks 8] [-time 1s] [-seed 1] [-only udp_rr,tcp_crr]
//
// It needs what a lab needs, as root. Tools that are not on PATH are left out
// and said so.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"netdelta/internal/netlab"
	"netdelta/internal/roles"
	"netdelta/internal/sys"
)

func main() {
	if status, ok := roles.Dispatch(os.Args[1:]); ok {
		os.Exit(status)
	}
	blocks := flag.Int("blocks", 8, "how often every tool is run")
	length := flag.Duration("time", time.Second, "length of one run, in whole seconds: other tools know no parts")
	seed := flag.Uint64("seed", 1, "seed of the random order")
	only := flag.String("only", "", "contests to run, comma-separated (default: all): "+strings.Join(contestNames(), ", "))
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx, os.Stdout, *blocks, *length, *seed, *only); err != nil {
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

func bench(ctx context.Context, w io.Writer, blocks int, length time.Duration, seed uint64, only string) (err error) {
	if length < time.Second || length%time.Second != 0 {
		return fmt.Errorf("-time %v: give whole seconds", length)
	}
	if blocks < 1 {
		return fmt.Errorf("-blocks %d: give 1 or more", blocks)
	}
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		return err
	}
	lab, err := netlab.New()
	if err != nil {
		return err
	}
	defer func() { err = joined(err, lab.Close()) }()
	link, err := lab.Connect(ctx, netlab.LinkConfig{Kind: netlab.Veth, Context: "backlog", Offload: true, WireCPU: sys.NoCPU})
	if err != nil {
		return err
	}
	p := place{lab: lab, link: link, client: cpus[0], server: cpus[len(cpus)-1], length: length}
	fmt.Fprintf(w, "veth, offloads on, client on CPU %d, server on CPU %d, %d blocks of %v, seed %d\n", p.client, p.server, blocks, length, seed)
	for _, c := range chosen {
		if err := c.run(ctx, w, p, blocks, seed); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// choose picks contests by name.
func choose(only string) ([]contest, error) {
	if only == "" {
		return contests(), nil
	}
	var chosen []contest
	for _, name := range strings.Split(only, ",") {
		i := slices.IndexFunc(contests(), func(c contest) bool { return c.name == strings.TrimSpace(name) })
		if i < 0 {
			return nil, fmt.Errorf("no contest %q: there are %s", name, strings.Join(contestNames(), ", "))
		}
		chosen = append(chosen, contests()[i])
	}
	return chosen, nil
}

func contestNames() []string {
	var names []string
	for _, c := range contests() {
		names = append(names, c.name)
	}
	return names
}

func joined(a, b error) error {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	return fmt.Errorf("%w; %w", a, b)
}
