package bpf

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/google/go-cmp/cmp"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
)

// TestTimeUnderWay: a clock that runs counts until it is read, and one that
// began after that counts nothing.
func TestTimeUnderWay(t *testing.T) {
	var r countCpu
	r.Clock[stateIdle] = 70 - 1000      // had 70, runs since 1000
	r.Clock[stateTask] = 40             // stands
	r.Clock[stateInterrupt] = -1010     // had nothing, began after the look at the clock
	r.Clock[stateSoftirq+3] = 500 - 900 // runs since 900
	r.Runs[stateSoftirq+3] = 8
	c := r.at(1005)
	want := CPU{Idle: 75, Task: 40}
	want.Softirqs[3] = Softirq{Time: 605, Runs: 8}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTimesAddUp: a CPU is always in one state. What interrupts do in the very
// middle of a program may count twice.
func TestTimesAddUp(t *testing.T) {
	c := counter(t)
	path := newPath(t)
	before, begin := look(t, c)
	path.trips(t, 2000)
	after, end := look(t, c)
	for i := range after {
		sum := total(&after[i]) - total(&before[i])
		if off := sum - (end - begin); off < -100_000 || off > 100_000 {
			t.Errorf("CPU %d: all states together took %d ns of %d ns", after[i].Number, sum, end-begin)
		}
	}
}

func total(c *CPU) int64 {
	sum := c.Idle + c.Task + c.Interrupt
	for _, s := range c.Softirqs {
		sum += s.Time
	}
	return sum
}

// TestCloseDetaches: programs are gone once their descriptors are.
func TestCloseDetaches(t *testing.T) {
	labtest.NoLeaks(t)
	c, err := Open()
	if err != nil {
		labtest.Skip(t, err)
	}
	ids, err := c.ids()
	if err != nil {
		t.Fatal(err)
	}
	if left := loaded(t, ids); len(left) != len(ids) {
		t.Fatalf("of programs %v only %v are loaded", ids, left)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	wantGone(t, ids)
}

// TestKillDetaches: nothing is left attached by a process that could not close
// anything.
func TestKillDetaches(t *testing.T) {
	counter(t)
	cmd := exec.Command(os.Args[0], roleCount)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var n int
	text := bufio.NewReader(out)
	_, err = fmt.Fscanln(text, &n)
	ids := make([]uint32, n)
	for i := range ids {
		if err == nil {
			_, err = fmt.Fscanln(text, &ids[i])
		}
	}
	if err == nil && len(loaded(t, ids)) != len(ids) {
		err = fmt.Errorf("of programs %v only %v are loaded", ids, loaded(t, ids))
	}
	killed := cmd.Process.Kill()
	cmd.Wait()
	if err = errors.Join(err, killed); err != nil {
		t.Fatal(err)
	}
	wantGone(t, ids)
}

// loaded lists those of the programs that the kernel has.
func loaded(t *testing.T, ids []uint32) (there []uint32) {
	t.Helper()
	for _, id := range ids {
		p, err := ebpf.NewProgramFromID(ebpf.ProgramID(id))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		p.Close()
		there = append(there, id)
	}
	return there
}

// wantGone waits for the kernel, which takes programs away when nothing can
// run them any more.
func wantGone(t *testing.T, ids []uint32) {
	t.Helper()
	const patience = 10 * time.Second
	if len(ids) == 0 {
		t.Fatal("there was no program")
	}
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		left := loaded(t, ids)
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("programs %v are still there after %v", left, patience)
		}
	}
}

// TestRefusalSaysWhatIsNeeded opens as a thread without any capability.
func TestRefusalSaysWhatIsNeeded(t *testing.T) {
	err := labtest.WithoutCapabilities(func() error {
		c, err := Open()
		if err == nil {
			err = errors.Join(errors.New("it may count all the same"), c.Close())
		}
		return err
	})
	if !errors.Is(err, feature.ErrUnavailable) || !strings.Contains(err.Error(), "CAP_BPF") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error: %v", err)
	}
	t.Log(err)
}
