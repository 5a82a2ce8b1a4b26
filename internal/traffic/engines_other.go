//go:build !(linux || darwin || freebsd)

package traffic

// engines is empty where there is no Linux kernel to drive.
var engines []engine
