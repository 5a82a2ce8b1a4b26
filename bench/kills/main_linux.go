// Command kills ends runs that change settings with SIGKILL at random points,
// and looks at what is left: whether every setting is what it was before, and
// whether every trial that had finished is kept.
//
//	go run ./bench/kills [-n 100] [-seed 1]
//
// Two hosts in network namespaces with a veth pair between them stand for two
// machines: an agent of the one is a process of its own, the other end is the
// run's. Each time the run, the agent or both are killed, in turn. What the run
// has left is put back by netdelta restore or by the start of the next run, in
// turn; what the agent has left by the agent that lives or by the next one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"

	"netdelta/internal/cli"
	"netdelta/internal/roles"
)

// program as the first argument has this binary be netdelta.
const program = "netdelta"

func main() {
	if status, ok := roles.Dispatch(os.Args[1:]); ok {
		os.Exit(status)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if len(os.Args) > 1 && os.Args[1] == program {
		os.Exit(cli.Run(ctx, os.Args[2:], os.Stdout, os.Stderr))
	}
	n := flag.Int("n", 100, "kills")
	seed := flag.Uint64("seed", rand.Uint64(), "seed of who is killed and when")
	flag.Parse()
	err := kill(ctx, *n, *seed)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kills:", err)
		os.Exit(1)
	}
}

// kill does what the program is for.
func kill(ctx context.Context, n int, seed uint64) error {
	fmt.Printf("seed %d\n", seed)
	b, err := newBench(ctx)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	var sum outcome
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		o, err := b.round(ctx, victims[i%len(victims)], i, rng)
		sum.add(o)
		if err != nil {
			fmt.Printf("%3d %-5s %v\n", i+1, victims[i%len(victims)], err)
			sum.failed++
		}
	}
	fmt.Println(sum)
	return errors.Join(b.close(), sum.err())
}
