package sys

import (
	"testing"
	"unsafe"
)

// TestZeroCopyReceiveOfOldKernels: those cut the size of the struct to what
// they know of it.
func TestZeroCopyReceiveOfOldKernels(t *testing.T) {
	var a zeroCopyReceive
	for size, want := range map[uint32]bool{
		16:                       false, // Linux 4.18: address, length and skip
		24:                       false, // Linux 5.7: inQueue and err
		36:                       true,
		uint32(unsafe.Sizeof(a)): true,
	} {
		if got := a.copied(size); got != want {
			t.Errorf("of %d bytes: copies %v, want %v", size, got, want)
		}
	}
}
