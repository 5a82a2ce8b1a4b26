package sys

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// NetNS is a network namespace without a name: it lives as long as a
// descriptor, a process or a socket holds it, so nothing is left behind when
// its last user dies, however it dies.
type NetNS struct {
	f *os.File
}

// NewNetNS makes a network namespace of its own with loopback down. It needs
// CAP_SYS_ADMIN in the current user namespace.
func NewNetNS() (*NetNS, error) {
	var ns *NetNS
	err := onSparedThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("make a network namespace (unshare CLONE_NEWNET): %w", err)
		}
		return nil
	}, func() error {
		f, err := os.Open(threadNetNS())
		if err != nil {
			return fmt.Errorf("open the new network namespace: %w", err)
		}
		ns = &NetNS{f}
		return nil
	})
	return ns, err
}

// CurrentNetNS returns a handle to the calling thread's network namespace.
func CurrentNetNS() (*NetNS, error) {
	f, err := os.Open(threadNetNS())
	if err != nil {
		return nil, fmt.Errorf("open the current network namespace: %w", err)
	}
	return &NetNS{f}, nil
}

// Close gives up the handle. The namespace goes when nothing else holds it.
func (n *NetNS) Close() error { return n.f.Close() }

// Fd is the descriptor of the namespace, valid until Close.
func (n *NetNS) Fd() int { return int(n.f.Fd()) }

// Do runs fn on a thread that is in the namespace, and only that thread: fn
// must not start goroutines that are to be in it too.
func (n *NetNS) Do(fn func() error) error {
	return onSparedThread(func() error {
		if err := unix.Setns(n.Fd(), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter the network namespace (setns): %w", err)
		}
		return nil
	}, fn)
}

// Start starts the command with all its threads in the namespace: the child
// inherits it from the thread that forks. A nil namespace starts it in the
// caller's.
func (n *NetNS) Start(cmd *exec.Cmd) error {
	if n == nil {
		return cmd.Start()
	}
	return n.Do(cmd.Start)
}

// onSparedThread runs enter, which changes the thread's network namespace or
// fails and leaves it, and then fn, both on one locked thread. It gives the
// thread back to the runtime only after its namespace has been restored;
// otherwise the thread ends with the goroutine. (A child that asked for a parent-death
// signal would get it when such a thread ends: children watch their control
// socket instead.)
func onSparedThread(enter, fn func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		home, err := os.Open(threadNetNS())
		if err != nil {
			runtime.UnlockOSThread()
			done <- fmt.Errorf("open the current network namespace: %w", err)
			return
		}
		defer home.Close()
		if err := enter(); err != nil {
			// Nothing to return from, nor perhaps the privilege to.
			runtime.UnlockOSThread()
			done <- err
			return
		}
		err = fn()
		if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
			// Still locked: the thread dies with this goroutine.
			done <- errors.Join(err, fmt.Errorf("return to the previous network namespace: %w", back))
			return
		}
		runtime.UnlockOSThread()
		done <- err
	}()
	return <-done
}

func threadNetNS() string {
	return fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid())
}
