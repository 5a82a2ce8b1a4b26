//go:build !linux

package feature

import (
	"errors"
	"runtime"
)

// Kernel is the running system's name, without a version.
func Kernel() Release { return Release{System: runtime.GOOS} }

func needsLinux() *Error {
	return &Error{
		Tried: "find it",
		Need:  "Linux",
		Err:   errors.ErrUnsupported,
	}
}

func tryNetNS() *Error           { return needsLinux() }
func tryUserNS() *Error          { return needsLinux() }
func tryVeth() *Error            { return needsLinux() }
func tryTAP() *Error             { return needsLinux() }
func tryTAPNAPI() *Error         { return needsLinux() }
func tryTAPFrags() *Error        { return needsLinux() }
func trySteering() *Error        { return needsLinux() }
func tryVNetHdr() *Error         { return needsLinux() }
func tryThreadedNAPI() *Error    { return needsLinux() }
func trySocketGroup() *Error     { return needsLinux() }
func tryICMP() *Error            { return needsLinux() }
func tryMemoryLock() *Error      { return needsLinux() }
func tryUDPSegment() *Error      { return needsLinux() }
func tryUDPGRO() *Error          { return needsLinux() }
func tryURing() *Error           { return needsLinux() }
func tryURingSendZC() *Error     { return needsLinux() }
func tryZeroCopySend() *Error    { return needsLinux() }
func tryZeroCopyReceive() *Error { return needsLinux() }
