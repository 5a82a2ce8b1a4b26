package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/cli"
	"netdelta/internal/feature"
	"netdelta/internal/labtest"
)

// terminal is a pseudo-terminal: what the program writes to its own side can
// be waited for.
type terminal struct {
	master, slave *os.File

	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{} // closed and made anew with each piece of text
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		labtest.Skip(t, fmt.Errorf("no pseudo-terminals: %w", err))
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		labtest.Skip(t, fmt.Errorf("no pseudo-terminals: %w", err))
	}
	term := &terminal{master: master, slave: slave, changed: make(chan struct{})}
	go term.read()
	t.Cleanup(func() { slave.Close(); master.Close() })
	return term
}

// read collects the text until the last writer has gone.
func (m *terminal) read() {
	buf := make([]byte, 4096)
	for {
		n, err := m.master.Read(buf)
		m.mu.Lock()
		m.text.Write(buf[:n])
		close(m.changed)
		m.changed = make(chan struct{})
		m.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (m *terminal) await(t *testing.T, what string) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		m.mu.Lock()
		text, changed := m.text.String(), m.changed
		m.mu.Unlock()
		if strings.Contains(text, what) {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("no %q on the terminal, only %q", what, text)
		}
	}
}

// labProcess is a lab with its stderr on a terminal.
type labProcess struct {
	cmd    *exec.Cmd
	term   *terminal
	stdout bytes.Buffer
}

func startLab(t *testing.T, args ...string) *labProcess {
	t.Helper()
	labtest.Need(t, labProbe())
	labtest.NoLeaks(t)
	p := &labProcess{term: newTerminal(t)}
	p.cmd = exec.Command("netdelta", append([]string{"lab", "--link", "veth", "--time", "50ms", "--beside", "none"}, args...)...)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, p.term.slave
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			p.cmd.Process.Kill()
			p.cmd.Wait()
		}
	})
	return p
}

func (p *labProcess) status(t *testing.T) int {
	t.Helper()
	err := p.cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

func TestProgressAndInterrupt(t *testing.T) {
	p := startLab(t, "--tests", "udp_rr,tcp_rr", "--blocks", "1000", "--levels", "napi,backlog")
	p.term.await(t, "rx-context: block 1 of 1000, trial 3 of 4000, ")
	p.term.await(t, "left")
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if got := p.status(t); got != cli.ExitInterrupted {
		t.Errorf("exit status %d, want %d", got, cli.ExitInterrupted)
	}
	p.term.await(t, "netdelta: interrupted: the report has what was measured until then")
	if out := p.stdout.String(); !strings.HasPrefix(out, "Partial, ") {
		t.Errorf("the report does not say that it is partial: %q", out)
	}
}

func TestInterruptBeforeTheFirstTrial(t *testing.T) {
	p := startLab(t, "--tests", "udp_rr", "--blocks", "2", "--levels", "napi,backlog", "--time", "1h")
	p.term.await(t, "trial 1 of 4, ")
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if got := p.status(t); got != cli.ExitInterrupted {
		t.Errorf("exit status %d, want %d", got, cli.ExitInterrupted)
	}
	p.term.await(t, "netdelta: interrupted before the first trial was finished")
	if p.stdout.Len() != 0 {
		t.Errorf("a report of nothing: %q", p.stdout.String())
	}
}

// TestWorkersThatDie kills every worker that appears after the first trials:
// the trial is repeated once, then the run ends with what it has.
func TestWorkersThatDie(t *testing.T) {
	labtest.Need(t, feature.Veth) // as root: a user namespace hides the workers' parent
	p := startLab(t, "--tests", "udp_rr", "--blocks", "1000", "--levels", "napi,backlog")
	p.term.await(t, "trial 3 of 2000, ")
	stop, killed := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-stop:
				killed <- n
				return
			default:
			}
			for _, pid := range childrenOf(p.cmd.Process.Pid) {
				if syscall.Kill(pid, syscall.SIGKILL) == nil {
					n++
				}
			}
		}
	}()
	got := p.status(t)
	close(stop)
	if n := <-killed; n < 2 {
		t.Errorf("%d workers were killed, want two or more", n)
	}
	if got != cli.ExitUnmeasured {
		t.Errorf("exit status %d, want %d", got, cli.ExitUnmeasured)
	}
	p.term.await(t, "killed")
	if out := p.stdout.String(); !strings.HasPrefix(out, "Partial, ") {
		t.Errorf("the report does not say that it is partial: %q", out)
	}
}

// TestLabKilled kills the program itself within a trial: its workers end, and
// with them the namespaces (labtest.NoLeaks looks for both).
func TestLabKilled(t *testing.T) {
	p := startLab(t, "--tests", "udp_rr", "--blocks", "2", "--levels", "napi,backlog", "--time", "1h")
	p.term.await(t, "trial 1 of 4, ")
	var workers []int
	deadline := time.Now().Add(time.Minute)
	for len(workers) < 2 && time.Now().Before(deadline) {
		workers = descendants(p.cmd.Process.Pid)
	}
	if len(workers) < 2 {
		t.Fatalf("workers %v, want two", workers)
	}
	p.cmd.Process.Kill()
	p.status(t)
	for _, pid := range workers {
		for labtest.Alive(pid) {
			if time.Now().After(deadline) {
				t.Fatalf("worker %d outlives the program", pid)
			}
		}
	}
}

// childrenOf lists a process's children; none if it has gone.
func childrenOf(pid int) []int {
	pids, err := labtest.Children(pid)
	if err != nil {
		return nil
	}
	return pids
}

// descendants lists the children of a process and theirs.
func descendants(pid int) []int {
	var all []int
	for _, child := range childrenOf(pid) {
		all = append(append(all, child), descendants(child)...)
	}
	return all
}
