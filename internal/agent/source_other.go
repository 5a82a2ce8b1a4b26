//go:build !(linux || darwin || freebsd)

package agent

import (
	"fmt"
	"runtime"

	"netdelta/internal/ctl"
	"netdelta/internal/sys"
	"netdelta/internal/traffic"
)

// place refuses an address that was left open.
func place(_ *sys.NetNS, c *traffic.Config) error {
	if c.Addr.IsUnspecified() {
		return fmt.Errorf("%w: this end's address cannot be chosen on %s: name it", ctl.ErrInvalid, runtime.GOOS)
	}
	return nil
}
