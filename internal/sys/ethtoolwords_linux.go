package sys

import (
	"errors"
	"unsafe"
)

// Ethtool hands one of the structures of linux/ethtool.h that are of 32-bit words
// all through to the driver of an interface in the thread's network namespace
// (SIOCETHTOOL of netdevice(7)): the first word is the command, and the kernel
// writes its answer over them, as many words as the command's structure has. Its
// errors are unix.Errno, such as ENODEV where there is no such interface and
// EOPNOTSUPP where the driver does not know the command.
//
// A library's functions for this hand the structure's address on as a number,
// which a stack that moves on the way leaves behind.
func Ethtool(device string, words []uint32) error {
	if len(words) == 0 {
		return errors.New("ethtool: no command")
	}
	return withEthtool(device, unsafe.Pointer(unsafe.SliceData(words)))
}
