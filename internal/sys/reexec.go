package sys

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// Roles of re-executed processes: the first argument of a child that is not
// for users.
const (
	RoleWorker = "__worker"
	RoleWire   = "__wire"
	RoleAwake  = "__awake"
)

// ControlFD is the descriptor at which a re-executed child finds its control
// socket. When the other end of that closes, however the parent died, the
// child ends.
const ControlFD = 3

// Reexec prepares a child of the running binary in a role. The caller adds
// ExtraFiles, the control socket first.
func Reexec(role string, args ...string) (*exec.Cmd, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the running binary: %w", err)
	}
	cmd := exec.Command(exe, append([]string{role}, args...)...)
	cmd.Stderr = os.Stderr
	// A group of its own: Ctrl-C on the terminal is for the parent, which then
	// ends its children in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, nil
}
