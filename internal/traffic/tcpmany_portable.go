//go:build darwin || freebsd || (linux && portable)

package traffic

import (
	"errors"
	"fmt"
)

// roomForFlows does nothing: a socket that can't be made says so.
func roomForFlows(Config, int) error { return nil }

// manyHalves refuses.
func manyHalves(cfg *Config, _ *team, _ []*socket, _ bool) ([]half, error) {
	test := cfg.Test
	return nil, unavailable("more flows than threads", fmt.Sprintf("%d flows in %d threads", test.Flows(), test.Threads()),
		"Linux, or as many threads as flows", errors.ErrUnsupported)
}
