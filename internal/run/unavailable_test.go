package run

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"netdelta/internal/feature"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// A test that a host cannot carry out is tried once in each trial, says why,
// and leaves the others alone.
func TestUnavailable(t *testing.T) {
	for name, refusal := range map[string]error{
		"unavailable": fmt.Errorf("method uring: %w", &feature.Error{Feature: "method uring", Tried: "make a ring", Need: "Linux 5.1", Kernel: "Linux 4.19", Err: errors.New("ENOSYS")}),
		"forbidden":   fmt.Errorf("set SO_MARK: %w", fs.ErrPermission),
	} {
		for _, step := range []string{"a prepare", "b prepare", "b arm", "a arm", "a run", "b drain"} {
			t.Run(name+" "+step, func(t *testing.T) {
				on(t, func(t *testing.T, b *bench) {
					b.cfg.Plan.Tests = append([]spec.Test{}, b.cfg.Plan.Tests[1], udpRR(t, 64))
					b.fail = func(at string, _ int) error {
						if host := at[:1]; at == step && b.took[host].Test.Params.Size == 64 {
							return refusal
						}
						return nil
					}
					if err := Run(t.Context(), b.cfg); err != nil {
						t.Fatal(err)
					}
					if len(b.trials) != b.cfg.Plan.Trials() {
						t.Fatalf("%d trials, want %d", len(b.trials), b.cfg.Plan.Trials())
					}
					for _, x := range b.trials {
						refused := x.Test.Params.Size == 64
						_, missing := x.Derive()
						if said := hasCode(x.Warnings, CodeUnavailable); said != refused {
							t.Errorf("%v: unavailable is %v, warnings %v", x.Test, said, x.Warnings)
						}
						if refused && (len(missing) != len(result.Definitions(x.Test)) || missing[0].Code != CodeUnavailable || x.Attempt != 1) {
							t.Errorf("%v, attempt %d: missing %v", x.Test, x.Attempt, missing)
						}
						if err := x.Validate(); err != nil {
							t.Error(err)
						}
					}
				})
			})
		}
	}
}

func udpRR(t *testing.T, size int) spec.Test {
	t.Helper()
	test, err := spec.NewTest("udp_rr", spec.Params{Size: size})
	if err != nil {
		t.Fatal(err)
	}
	return test
}

func hasCode(all []result.Warning, code string) bool {
	for _, w := range all {
		if w.Code == code {
			return true
		}
	}
	return false
}
