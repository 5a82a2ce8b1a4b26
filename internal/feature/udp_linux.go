package feature

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func tryUDPSegment() *Error { return setUDP("UDP_SEGMENT", unix.UDP_SEGMENT, "Linux 4.18 or later") }
func tryUDPGRO() *Error     { return setUDP("UDP_GRO", unix.UDP_GRO, "Linux 5.0 or later") }

// setUDP sets an option of a UDP socket to 1. kernel is the version that
// brought it.
func setUDP(name string, option int, kernel string) *Error {
	tried := fmt.Sprintf("set %s of a UDP socket", name)
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.SetsockoptInt(fd, unix.SOL_UDP, option, 1)
		unix.Close(fd)
	}
	if err != nil {
		return &Error{Tried: tried, Need: kernel, Err: err}
	}
	return nil
}
