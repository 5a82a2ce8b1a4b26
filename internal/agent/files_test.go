package agent

import (
	"errors"
	"testing"

	"netdelta/internal/feature"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Whoever may measure with an agent cannot have its host's files sent, unless
// the agent's owner says so. The other end has nothing to do with the file.
func TestFiles(t *testing.T) {
	for _, c := range []struct {
		test, role string
		sends      bool
	}{
		{"tcp_stream", result.Local, true}, {"tcp_stream", result.Remote, false},
		{"tcp_maerts", result.Local, false}, {"tcp_maerts", result.Remote, true},
		{"tcp_bidir", result.Local, true}, {"tcp_bidir", result.Remote, true},
	} {
		for _, allowed := range []bool{false, true} {
			for _, file := range []string{"/etc/hostname", ""} {
				st := newStable()
				h := hold(t, st, Config{Files: allowed})
				cfg := config(c.role)
				test, err := spec.NewTest(c.test, spec.Params{Send: "sendfile", File: file})
				if err != nil {
					t.Fatal(err)
				}
				cfg.Test = test
				_, err = h.Prepare(t.Context(), h.id, cfg)
				refused := c.sends && !allowed && file != ""
				if refused != errors.Is(err, feature.ErrUnavailable) || !refused && err != nil || refused && st.made() != 0 {
					t.Errorf("%s %s, allowed %v, file %q: got %v, %d workers", c.test, c.role, allowed, file, err, st.made())
				}
				h.finish(t)
			}
		}
	}
}
