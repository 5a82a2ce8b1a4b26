package sys

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Names of threads, as ps -L and traces show them, of at most 15 bytes.
const (
	ThreadTraffic = "nd-traffic"
	ThreadWire    = "nd-wire"
	// ThreadHandler is one that stands for a kernel's thread that handles received
	// frames.
	ThreadHandler = "rx-handler"
)

// NameThread names the calling thread (PR_SET_NAME of prctl(2)), and with that those
// that it starts. That it fails would be no reason not to measure.
func NameThread(name string) {
	var text [16]byte
	copy(text[:15], name)
	_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&text)), 0, 0, 0)
}
