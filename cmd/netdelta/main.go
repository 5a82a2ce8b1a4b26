// Command netdelta tells what a change did to a network path: how much, how
// sure, and why.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"netdelta/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(cli.Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
