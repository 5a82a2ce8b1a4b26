package netlab

import (
	"context"
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
	args := make([]string, len(cpus))
	for i, cpu := range cpus {
		args[i] = strconv.Itoa(cpu)
	}
	a, err := keepAwake(args)
	if err != nil {
		return nil, fmt.Errorf("keep the CPUs awake: %w", err)
	}
	return a, nil
}

func keepAwake(args []string) (*Awake, error) {
	ours, theirs, err := sys.ControlPair(unix.SOCK_STREAM)
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd, err := sys.Reexec(sys.RoleAwake, args...)
	if err != nil {
		ours.Close()
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Env = append(os.Environ(), "GOGC=off", "GOMEMLIMIT=off", "GODEBUG=asyncpreemptoff=1", "GOMAXPROCS="+strconv.Itoa(len(args)+1))
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

// busyMark marks a CPU that is to be kept busy rather than awake.
const busyMark = "busy:"

// A thread that keeps a CPU busy takes BusyFor of each BusyFor and BusyRest, before all
// threads of ordinary priority. The rest is shorter than a round trip, so that nearly
// none gets by; and three quarters are less than what the kernel leaves to threads of
// its class (sched_rt_runtime_us).
const (
	BusyFor      = 150 * time.Microsecond
	BusyRest     = 50 * time.Microsecond
	busyPriority = 1
)

// burst is one turn of such a thread.
func burst() {
	x := uint64(1)
	for end := sys.Nanotime() + int64(BusyFor); sys.Nanotime() < end; {
		x = turn(x)
	}
	sys.SleepUntil(sys.Nanotime() + int64(BusyRest))
}

// makeBusy keeps CPUs busy.
func (k *Link) makeBusy(context.Context) (err error) {
	var args []string
	for cpu := range strings.SplitSeq(k.cfg.Busy, ",") {
		args = append(args, busyMark+cpu)
	}
	k.busy, err = keepAwake(args)
	return err
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
			number, isBusy := strings.CutPrefix(arg, busyMark)
			cpu, err := strconv.Atoi(strings.TrimSpace(number))
			if err == nil {
				err = sys.PinThread(cpu)
			}
			switch {
			case err != nil:
			case isBusy:
				sys.NameThread("nd-busy")
				err = sys.SetFIFO(busyPriority)
			default:
				err = sys.SetIdle()
			}
			set <- err
			for err == nil && isBusy { // for ever
				burst()
			}
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
