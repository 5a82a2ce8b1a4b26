package agent

import (
	"errors"
	"testing"

	"netdelta/internal/ctl"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Whoever may measure with an agent cannot have its host's files sent, unless
// the agent's owner says so.
func TestFiles(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		st := newStable()
		h := hold(t, st, Config{Files: allowed})
		cfg := config(result.Local)
		test, err := spec.NewTest("tcp_stream", spec.Params{Send: "sendfile", File: "/etc/hostname"})
		if err != nil {
			t.Fatal(err)
		}
		cfg.Test = test
		if _, err = h.Prepare(t.Context(), h.id, cfg); allowed != (err == nil) || !allowed && (!errors.Is(err, ctl.ErrInvalid) || st.made() != 0) {
			t.Errorf("allowed %v: got %v, %d workers", allowed, err, st.made())
		}
		cfg.Test.Params.File = ""
		if !allowed {
			if _, err = h.Prepare(t.Context(), h.id, cfg); err != nil {
				t.Errorf("a file that is made for the trial: %v", err)
			}
		}
		h.finish(t)
	}
}
