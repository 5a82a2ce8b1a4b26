//go:build !linux

package traffic

// engines is empty where there is no Linux kernel to drive.
var engines []engine
