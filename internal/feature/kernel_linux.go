package feature

import "golang.org/x/sys/unix"

// Kernel is the running kernel. A release that cannot be parsed has version
// 0.0.
func Kernel() Release {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return Release{System: "Linux"}
	}
	r, _ := ParseRelease(unix.ByteSliceToString(u.Sysname[:]), unix.ByteSliceToString(u.Release[:]))
	return r
}
