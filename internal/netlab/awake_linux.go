package netlab

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// Awake is a process whose threads keep CPUs from sleeping: one loop of idle
// priority on each (SCHED_IDLE, sched(7)), which gives way to whatever else wants the
// CPU. A CPU that sleeps is late to wake, the later the longer it slept, and on a
// virtual machine by tens of microseconds.
type Awake struct {
	cmd     *exec.Cmd
	control *os.File
}

// readyByte is what the process writes when its loops run; anything else is why they
// do not.
const readyByte = 'r'

// awakeTime is what the process has to come up, and to end.
const awakeTime = 10 * time.Second

// KeepAwake keeps the CPUs awake until Close, or until this process ends, however it
// does.
func KeepAwake(cpus []int) (*Awake, error) {
	a, err := keepAwake(cpus)
	if err != nil {
		return nil, fmt.Errorf("keep the CPUs awake: %w", err)
	}
	return a, nil
}

func keepAwake(cpus []int) (*Awake, error) {
	ours, theirs, err := sys.ControlPair(unix.SOCK_STREAM)
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	args := make([]string, len(cpus))
	for i, cpu := range cpus {
		args[i] = strconv.Itoa(cpu)
	}
	cmd, err := sys.Reexec(sys.RoleAwake, args...)
	if err != nil {
		ours.Close()
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Env = append(os.Environ(), "GOGC=off", "GOMEMLIMIT=off", "GODEBUG=asyncpreemptoff=1", "GOMAXPROCS="+strconv.Itoa(len(cpus)+1))
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil, err
	}
	a := &Awake{cmd, ours}
	if err := a.ready(); err != nil {
		a.Close() // it has said why it ended
		return nil, err
	}
	return a, nil
}

// ready waits until the loops run.
func (a *Awake) ready() error {
	if err := a.control.SetReadDeadline(time.Now().Add(awakeTime)); err != nil {
		return err
	}
	said := make([]byte, 512)
	n, err := a.control.Read(said)
	switch {
	case err != nil:
		return fmt.Errorf("the process said nothing: %w", err)
	case n == 1 && said[0] == readyByte:
		return nil
	}
	return errors.New(string(said[:n]))
}

// Close ends the loops and waits for their process.
func (a *Awake) Close() error {
	a.control.Close()
	stuck := time.AfterFunc(awakeTime, func() { a.cmd.Process.Kill() })
	defer stuck.Stop()
	if err := a.cmd.Wait(); err != nil {
		return fmt.Errorf("keep the CPUs awake: %w", err)
	}
	return nil
}

// AwakeMain is the process: its arguments are the CPUs, and it ends with the control
// socket at descriptor 3.
func AwakeMain(args []string) int {
	control := os.NewFile(sys.ControlFD, "control socket")
	if err := spinOn(args); err != nil {
		io.WriteString(control, err.Error()) // the parent may be gone
		return 1
	}
	if _, err := control.Write([]byte{readyByte}); err != nil {
		return 1
	}
	control.Read(make([]byte, 1)) // until it closes
	return 0
}

// turn is work without memory.
//
//go:noinline
func turn(x uint64) uint64 {
	for range 1024 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// spinOn starts a loop on each CPU, and returns when all have theirs.
func spinOn(args []string) error {
	set := make(chan error, len(args))
	for _, arg := range args {
		go func() {
			cpu, err := strconv.Atoi(strings.TrimSpace(arg))
			if err == nil {
				err = sys.PinThread(cpu)
			}
			if err == nil {
				err = sys.SetIdle()
			}
			set <- err
			for x := uint64(1); err == nil; { // for ever
				x = turn(x)
			}
		}()
	}
	for range args {
		if err := <-set; err != nil {
			return err
		}
	}
	return nil
}
