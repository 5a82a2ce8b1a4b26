//go:build !linux

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
		return fmt.Errorf("%w: choosing this end's address needs Linux, this is %s: name the address", ctl.ErrInvalid, runtime.GOOS)
	}
	return nil
}
