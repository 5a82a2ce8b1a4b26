//go:build !linux

package sys

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// What follows stands in for Linux's on other systems, so that programs that
// need it can say so rather than not be built.

func needsLinux(what string) error {
	return fmt.Errorf("%s: needs Linux, this is %s: %w", what, runtime.GOOS, errors.ErrUnsupported)
}

// NetNS is a network namespace.
type NetNS struct{}

// NewNetNS reports that there are no network namespaces.
func NewNetNS() (*NetNS, error) { return nil, needsLinux("make a network namespace") }

// CurrentNetNS reports that there are no network namespaces.
func CurrentNetNS() (*NetNS, error) { return nil, needsLinux("open the current network namespace") }

// Close does nothing.
func (n *NetNS) Close() error { return nil }

// Do reports that there are no network namespaces.
func (n *NetNS) Do(func() error) error { return needsLinux("enter a network namespace") }

// Start starts the command if the namespace is nil, which stands for the
// caller's.
func (n *NetNS) Start(cmd *exec.Cmd) error {
	if n != nil {
		return needsLinux("start a process in a network namespace")
	}
	return cmd.Start()
}

// StartIn reports that there are no control groups, if one is asked for.
func StartIn(_ *exec.Cmd, group *os.File) error {
	if group == nil {
		return nil
	}
	return needsLinux("start a process in a control group")
}

// ReexecInUserNS reports that there are no user namespaces.
func ReexecInUserNS([]string) (status int, err error) {
	return 0, needsLinux("start in a user namespace")
}

// NoCPU as a CPU number leaves the choice to the scheduler.
const NoCPU = -1

// PinThread locks the calling goroutine to its thread; it cannot bind that to
// a CPU.
func PinThread(cpu int) error {
	runtime.LockOSThread()
	if cpu == NoCPU {
		return nil
	}
	return needsLinux(fmt.Sprintf("bind a thread to CPU %d", cpu))
}

// OnlineCPUs returns the numbers of the CPUs, taken to be all that there are.
func OnlineCPUs() ([]int, error) {
	cpus := make([]int, runtime.NumCPU())
	for i := range cpus {
		cpus[i] = i
	}
	return cpus, nil
}

// LockMemory reports that memory cannot be locked.
func LockMemory() error { return needsLinux("lock memory") }
