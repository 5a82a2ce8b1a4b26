package ctl

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// setUserTimeout has the kernel give a connection up whose peer has not
// answered for that long, to data or to keepalive probes (TCP_USER_TIMEOUT of
// tcp(7)). Accepted sockets inherit it from the listening one.
func setUserTimeout(fd int, d time.Duration) error {
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(d.Milliseconds())); err != nil {
		return fmt.Errorf("set TCP_USER_TIMEOUT to %v: %w", d, err)
	}
	return nil
}
