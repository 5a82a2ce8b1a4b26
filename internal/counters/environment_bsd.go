//go:build darwin || freebsd

package counters

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// text reads a fact that the kernel keeps under a name as text (sysctl(3)).
func text(name string) func(string) string {
	return func(string) string {
		v, err := unix.Sysctl(name)
		if err != nil {
			return ""
		}
		return strings.TrimSpace(v)
	}
}

// bytes reads one that it keeps as a number of bytes of 64 bits.
func sizeText(name string) func(string) string {
	return func(string) string {
		n, err := unix.SysctlUint64(name)
		if err != nil {
			return ""
		}
		return strconv.FormatUint(n>>20, 10) + " MiB"
	}
}
