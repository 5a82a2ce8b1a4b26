package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"netdelta/internal/spec"
	"netdelta/internal/store"
)

// resumption finds the trials of the run that is gone on with, and takes its
// seed: the order is then the same.
func (f *abFlags) resumption(ctx context.Context, e *experiment, stderr io.Writer) error {
	if f.resume == "" {
		return nil
	}
	s, err := openKept(ctx, f.store)
	if err != nil {
		return err
	}
	defer s.Close()
	old, err := store.Latest(ctx, s, f.resume)
	if err != nil {
		return storeFailed(err)
	}
	plan := &e.doc.Plan
	if old.Plan == nil || old.Plan.Single() {
		return usageError("run %s has nothing that varies: --resume goes on with a run of ab", old.ID)
	}
	if f.given("seed") && plan.Seed != old.Plan.Seed {
		return usageError("run %s had the seed %d: leave --seed out to go on with its order", old.ID, old.Plan.Seed)
	}
	plan.Seed = old.Plan.Seed
	if why := planDiffers(plan, old.Plan); why != "" {
		return usageError("run %s had another plan (%s): give the same one to go on with it", old.ID, why)
	}
	trials, damage := collect(ctx, s, old.ID)
	for _, d := range damage {
		fmt.Fprintf(stderr, "netdelta: %s\n", oneLine(d.Text))
	}
	e.resumed = trials
	return nil
}

// planDiffers names what two plans do not have in common, as plans' records call
// it; empty where they are one.
func planDiffers(a, b *spec.Plan) string {
	fields := func(p *spec.Plan) map[string]json.RawMessage {
		var of map[string]json.RawMessage
		data, err := json.Marshal(p)
		if err == nil {
			err = json.Unmarshal(data, &of)
		}
		if err != nil {
			return nil
		}
		return of
	}
	x, y := fields(a), fields(b)
	for _, name := range slices.Sorted(maps.Keys(x)) {
		if string(x[name]) != string(y[name]) {
			return name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(y)) {
		if _, both := x[name]; !both {
			return name
		}
	}
	return ""
}
