// Package hosts finds the two ends of a run: an agent within this process,
// the agents of other hosts, and the path between them as those hosts' own
// routes and addresses have it.
package hosts

import (
	"context"
	"sync"

	"netdelta/internal/agent"
	"netdelta/internal/ctl"
)

// Here starts an agent within this process and connects to it. end closes
// both, and returns when everything of theirs has ended.
func Here(ctx context.Context, cfg agent.Config, o ctl.Options) (c *ctl.Client, end func(), err error) {
	// The agent outlives an interrupt, so that the trial under way can be
	// ended in order.
	// The files are the user's own to read, and the settings to change.
	cfg.Files, cfg.Settings, cfg.Commands = true, true, true
	// And the host is the user's own, to change as far as the system lets them.
	cfg.Settings, cfg.Commands = true, true
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	a := agent.New(cfg)
	pipe := ctl.NewPipe()
	var wg sync.WaitGroup
	wg.Go(func() {
		// It ends with the context; a pipe has no other way to fail.
		_ = ctl.Serve(serving, pipe, ctl.Handler(a))
	})
	stop := func() {
		a.Close()
		cancel()
		pipe.Close()
		wg.Wait()
	}
	name := cfg.Name
	if name == "" {
		name = a.Hello().Hostname
	}
	if c, err = ctl.Dial(ctx, name, pipe, o); err != nil {
		stop()
		return nil, nil, err
	}
	return c, func() { c.Close(); stop() }, nil
}
