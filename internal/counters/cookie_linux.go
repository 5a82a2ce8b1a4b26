package counters

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// cookieOf is the number that the kernel gives each socket and no other
// (SO_COOKIE of socket(7), Linux 4.12).
func cookieOf(fd int) (uint64, error) {
	var b [8]byte
	n, err := sys.GetOption(fd, unix.SOL_SOCKET, unix.SO_COOKIE, b[:])
	if err == nil && n != len(b) {
		err = errors.New("the kernel tells no whole one")
	}
	if err != nil {
		return 0, fmt.Errorf("read the number of a socket (getsockopt SO_COOKIE): %w", err)
	}
	return binary.NativeEndian.Uint64(b[:]), nil
}

// still says whether a descriptor is that of the socket with the number. Where
// it is, all that was read of the descriptor was that socket's: one that was
// closed does not come back. So it is enough to ask when all has been read. A
// kernel that has no numbers is believed while the descriptor is a socket's.
func still(fd int, cookie uint64) bool {
	now, err := cookieOf(fd)
	return err == nil && now == cookie || errors.Is(err, unix.ENOPROTOOPT)
}
