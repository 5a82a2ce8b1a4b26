package run

import (
	"context"
	"net/netip"
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// besidePath is where a test beside runs: nowhere. Its worker is bound to no CPU
// but those that the test itself asks for, and uses no address.
var besidePath = Path{LocalAddr: netip.AddrFrom4([4]byte{127, 0, 0, 1}), LocalCPU: noCPU, RemoteCPU: noCPU}

// attemptBeside tries a trial of a test beside once. It needs no path, changes no
// setting and leaves those alone that are made; the local agent alone takes part.
// No loops of idle priority run meanwhile: they would keep CPUs awake, and that is
// what the test may be about.
func (r *runner) attemptBeside(ctx context.Context, slot spec.Slot, test spec.Test, attempt int) (result.Trial, error) {
	t := result.Trial{Schema: result.Schema, Block: slot.Block, Order: r.order, Attempt: attempt, Test: test,
		Warmup: r.Plan.Warmup, Window: r.Plan.Window}
	cfg := besidePath.localEnd()
	cfg.Test, cfg.Warmup, cfg.Window = test, r.Plan.Warmup, r.Plan.Window
	cfg.Counters = r.Plan.Counters
	if _, err := r.local.Prepare(ctx, cfg); err != nil {
		return t, err
	}
	if err := r.local.Arm(ctx, netip.AddrPortFrom(besidePath.LocalAddr, 0)); err != nil {
		return t, err
	}
	start := r.clock()
	t.Start = start.wall
	local, err := r.local.Run(ctx)
	if err != nil {
		return t, err
	}
	if err := checkEnd(r.Local, local, result.Local); err != nil {
		return t, err
	}
	t.Local = *local
	t.Warnings = append(t.Warnings, clockStep(start, r.clock())...)
	t.Warnings = append(t.Warnings, overrun(&t.Local, r.Plan.Window)...)
	return t, nil
}

// testIn is a test of a slot as that runs it.
func (r *runner) testIn(slot spec.Slot, t spec.Test) (spec.Test, error) {
	if slot.Beside {
		return t, nil
	}
	return r.Plan.TestUnder(slot.Variant, t)
}

// wasBeside says that a trial of an earlier part is of a test beside, in whichever
// block: how many blocks there are decides which of them run it, and the earlier
// part may have had fewer.
func (r *runner) wasBeside(t result.Trial) bool {
	return len(t.Variant) == 0 && t.Block >= 0 && t.Block < r.Plan.Blocks && slices.Contains(r.Plan.Beside, t.Test)
}

// eachOf is how many round trips of a test are kept one by one.
func (r *runner) eachOf(t spec.Test) int {
	if !t.KeepsEach() {
		return 0
	}
	return r.Plan.Each
}
