package knob

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// statusError is a command that ended by itself, with a status other than 0.
type statusError struct {
	status int
	said   string
}

func (e *statusError) Error() string {
	if e.said == "" {
		return fmt.Sprintf("exit status %d, and nothing on stderr", e.status)
	}
	return fmt.Sprintf("exit status %d: %s", e.status, e.said)
}

// shell runs a text with sh -c in the place's namespace. It is killed with all
// of its process group when the context ends, when it takes longer than
// commandLimit, and the shell itself when this process dies.
func (p Place) shell(ctx context.Context, text string) error {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	// A file and no pipe: what the command leaves running keeps it open.
	fd, err := unix.MemfdCreate("netdelta-stderr", unix.MFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("keep what a command says: %w", err)
	}
	said := os.NewFile(uintptr(fd), "stderr")
	defer said.Close()

	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", text)
	cmd.Stderr = said
	cmd.Env = append(os.Environ(), "NETDELTA_END="+p.End, "NETDELTA_LEVEL="+p.Level, "NETDELTA_DEVICE="+p.Device)
	peer := ""
	if p.Peer.IsValid() {
		peer = p.Peer.String()
	}
	cmd.Env = append(cmd.Env, "NETDELTA_PEER="+peer)
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	err = p.in(func() error {
		// The death signal comes when the thread that forked ends, so this one
		// waits, too.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		return cmd.Run()
	})
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("killed: %w (the limit is %v)%s", ctx.Err(), commandLimit, after(lastLines(said)))
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
		return &statusError{exit.ExitCode(), lastLines(said)}
	}
	return fmt.Errorf("%w%s", err, after(lastLines(said)))
}

func after(said string) string {
	if said == "" {
		return ""
	}
	return ": " + said
}

// lastLines returns the last lines of a file that are not empty, as one.
func lastLines(f *os.File) string {
	const most, bytes = 3, 1024
	st, err := f.Stat()
	if err != nil {
		return ""
	}
	buf := make([]byte, min(bytes, st.Size()))
	n, err := f.ReadAt(buf, st.Size()-int64(len(buf)))
	if err != nil && n == 0 {
		return ""
	}
	lines := strings.FieldsFunc(strings.ToValidUTF8(string(buf[:n]), "?"), func(r rune) bool { return r == '\n' || r == '\r' })
	return strings.Join(lines[max(0, len(lines)-most):], "; ")
}
