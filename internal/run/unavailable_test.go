package run

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"netdelta/internal/ctl"
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
			if name == "forbidden" && (step == "a run" || step == "b drain") {
				continue // see TestForbiddenLater
			}
			t.Run(name+" "+step, func(t *testing.T) {
				on(t, func(t *testing.T, b *bench) {
					b.cfg.Plan.Tests = append([]spec.Test{}, b.cfg.Plan.Tests[1], udpRR(t, 64))
					b.fail = func(at string, _ int) error {
						if host := at[:1]; at == step && b.given(host).Test.Params.Size == 64 {
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

// In mid-stream a permission is a firewall's: the trial is repeated.
func TestForbiddenLater(t *testing.T) {
	for _, step := range []string{"a run", "b drain"} {
		on(t, func(t *testing.T, b *bench) {
			b.fail = at(step, 1, fmt.Errorf("send on a UDP socket: %w", fs.ErrPermission))
			if err := Run(t.Context(), b.cfg); err != nil {
				t.Fatal(err)
			}
			if first := b.trials[0]; first.Attempt != 2 || hasCode(first.Warnings, CodeUnavailable) {
				t.Errorf("%s: attempt %d, %v", step, first.Attempt, first.Warnings)
			}
		})
	}
}

// What the local end ends with may only be what the remote end's failure led
// to: that one's reason counts.
func TestFarReason(t *testing.T) {
	gone := errors.New("the peer closed the connection")
	missing := &feature.Error{Feature: "method uring", Tried: "make a ring", Need: "Linux 5.1", Kernel: "Linux 4.19", Err: errors.New("ENOSYS")}
	for name, c := range map[string]struct {
		local, remote error
		unavailable   string // "" for a run that stops
		says          string
	}{
		"a refusal there":   {gone, missing, "needs Linux 5.1", ""},
		"a failure there":   {gone, errors.New("the file shrank"), "", "the file shrank"},
		"none there":        {gone, nil, "", "the peer closed"},
		"a refusal here":    {missing, gone, "host a", ""},
		"no answer there":   {gone, errHang, "", "the peer closed"},
		"out of order here": {fmt.Errorf("x: %w", ctl.ErrState), missing, "", "x:"},
	} {
		t.Run(name, func(t *testing.T) {
			on(t, func(t *testing.T, b *bench) {
				b.fail = func(at string, _ int) error {
					switch {
					case b.given(at[:1]).Test.Name != "udp_rr":
						return nil
					case at == "a run":
						return c.local
					case at == "b drain":
						return c.remote
					}
					return nil
				}
				err := Run(t.Context(), b.cfg)
				if c.unavailable == "" {
					if err == nil || !strings.Contains(err.Error(), c.says) {
						t.Errorf("error %v, want %q", err, c.says)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, x := range b.trials {
					if x.Test.Name != "udp_rr" {
						continue
					}
					if !hasCode(x.Warnings, CodeUnavailable) || !strings.Contains(x.Warnings[0].Text, c.unavailable) {
						t.Errorf("warnings %v, want %q", x.Warnings, c.unavailable)
					}
				}
			})
		})
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
