package sys

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// userNSMark tells a child that it is already the second run, so that a
// system that gives no capabilities in a user namespace cannot make the
// program start itself for ever.
const userNSMark = "NETDELTA_IN_USERNS"

// ReexecInUserNS runs the running binary once more with the arguments (those
// after the program's name), as root of a new user namespace and with mount
// and network namespaces that it owns, waits for it and returns its exit status: 128 and the
// signal's number if a signal ended it. Files that it writes belong to the
// user. Standard input, output and error pass through.
//
// The child is in the caller's process group, so Ctrl-C reaches both: the
// caller outlives it and only waits. Signals that were meant for the caller
// alone are passed on. The child is killed when the caller dies.
//
// An error means that the child could not be started: EPERM and ENOSPC where
// the system does not allow user namespaces (user_namespaces(7)).
func ReexecInUserNS(args []string) (status int, err error) {
	if os.Getenv(userNSMark) != "" {
		return 0, errors.New("start in a user namespace: this process is in one already")
	}
	exe, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("find the running binary: %w", err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), userNSMark+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// The root of a user namespace may only enter network namespaces that
	// belong to it, so one to come back to is needed too (setns(2)).
	cmd.SysProcAttr = userNSAttr(unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWNET)
	// The death signal is sent when the thread that forked ends, so this
	// goroutine keeps its thread to the end.
	cmd.SysProcAttr.Pdeathsig = unix.SIGKILL
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	caught := catchSignals()
	defer signal.Stop(caught)
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start in a user namespace (clone CLONE_NEWUSER): %w", err)
	}
	stop := forward(caught, cmd.Process)
	err = cmd.Wait()
	stop()
	return exitStatus(cmd.ProcessState), waitError(err)
}

// TryUserNS reports whether this user may make a user namespace and has
// capabilities in it. Nothing is run: a child is cloned into the namespaces
// and asked to execute a path that cannot exist (below a device file), so
// ENOTDIR from exec shows that all before it worked. Unsharing the network
// namespace apart needs a capability inside, which some security modules
// withhold.
func TryUserNS() error {
	attr := userNSAttr(unix.CLONE_NEWUSER)
	attr.Unshareflags = unix.CLONE_NEWNET | unix.CLONE_NEWNS
	pid, err := syscall.ForkExec("/dev/null/none", []string{"none"}, &syscall.ProcAttr{Sys: attr})
	switch {
	case errors.Is(err, unix.ENOTDIR):
		return nil
	case err == nil: // cannot be
		syscall.Wait4(pid, nil, 0, nil)
		return errors.New("a path below /dev/null was executed")
	}
	return err
}

// userNSAttr maps root inside to the present user outside, the only map that
// an ordinary user may write (user_namespaces(7)).
func userNSAttr(clone uintptr) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:                 clone,
		UidMappings:                []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings:                []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
		GidMappingsEnableSetgroups: false,
	}
}

// catchSignals takes the signals that would end this process. What it was
// started to ignore (nohup) stays ignored.
func catchSignals() chan os.Signal {
	caught := make(chan os.Signal, 8)
	for _, s := range []os.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGQUIT, unix.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(caught, s)
		}
	}
	return caught
}

// forward passes signals to the child until stop. Those that the terminal
// sends to the whole foreground process group are passed on only when this
// process is not in it: otherwise the child would get them twice, and a
// second Ctrl-C may mean "at once".
func forward(caught <-chan os.Signal, child *os.Process) (stop func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case s := <-caught:
				if s == unix.SIGTERM || !inForeground() {
					child.Signal(s) // it may have ended just now
				}
			case <-quit:
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-ended
	}
}

// inForeground reports whether the terminal's keys reach this process.
func inForeground() bool {
	tty, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(tty)
	group, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

func exitStatus(p *os.ProcessState) int {
	if p == nil {
		return 1
	}
	if w, ok := p.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return p.ExitCode()
}

// waitError drops the error that only says that the status is not 0.
func waitError(err error) error {
	if e := (*exec.ExitError)(nil); errors.As(err, &e) {
		return nil
	}
	return err
}
