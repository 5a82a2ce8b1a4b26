package sys

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// The kernel fills no more than there is, and tells how much.
func TestGetOption(t *testing.T) {
	fd, err := Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	b := []byte{9, 9, 9, 9, 9, 9}
	if n, err := GetOption(fd, unix.SOL_SOCKET, unix.SO_TYPE, b); err != nil || n != 4 || !slices.Contains(b[:4], unix.SOCK_DGRAM) || b[4] != 9 {
		t.Errorf("%d bytes %v: %v", n, b, err)
	}
	if n, err := GetOption(fd, unix.SOL_SOCKET, unix.SO_TYPE, b[:2]); err != nil || n > 2 {
		t.Errorf("%d bytes: %v", n, err)
	}
	if _, err := GetOption(-1, unix.SOL_SOCKET, unix.SO_TYPE, b); err == nil {
		t.Error("no socket: no error")
	}
}
