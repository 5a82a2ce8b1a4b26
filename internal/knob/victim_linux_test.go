package knob

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"netdelta/internal/labtest"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// roleVictim is a process that changes settings over and over until it is killed.
const roleVictim = "__knob-victim"

func victim(args []string) int {
	h := NewHolder(Config{Journal: args[0], Who: "the victim", Commands: true})
	made := args[1]
	for n := 0; ; n++ {
		r := local(setting(ttl, strconv.Itoa(100+n%50)), setting(fin, strconv.Itoa(20+n%7)),
			spec.Setting{End: spec.EndLocal, Knob: "command", Value: fmt.Sprint(n), Command: &spec.Command{
				Apply: "echo " + fmt.Sprint(n) + " >" + made, Restore: "rm -f " + made}})
		if n%3 == 2 {
			r.Settings = r.Settings[1:]
		}
		if _, err := h.Set(context.Background(), r); err != nil {
			fmt.Println(err)
			return 1
		}
		if n == 0 {
			fmt.Println("ready")
		}
		if n%5 == 4 {
			if err := h.Restore(context.Background()); err != nil {
				fmt.Println(err)
				return 1
			}
		}
	}
}

// TestKilledAnywhere kills a process that changes settings at any point of that,
// and restores.
func TestKilledAnywhere(t *testing.T) {
	labtest.NoLeaks(t)
	ns, dir := newNS(t), memoryJournal(t)
	made := filepath.Join(t.TempDir(), "made")
	was, wasFin := readSysctl(t, ns, ttl), readSysctl(t, ns, fin)
	kills, left := 60, 0
	if testing.Short() {
		kills = 10
	}
	for n := range kills {
		killVictim(t, ns, dir, made, n)
		all, err := Recover(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		left += len(all)
		for _, e := range all {
			if e.Err != nil || e.Done == "" || e.Held {
				t.Fatalf("kill %d: %+v", n, e)
			}
		}
		if got := readSysctl(t, ns, ttl) + ", " + readSysctl(t, ns, fin); got != was+", "+wasFin {
			t.Fatalf("kill %d: left at %s, it was %s, %s: %+v", n, got, was, wasFin, all)
		}
		if _, err := os.Stat(made); err == nil {
			t.Fatalf("kill %d: what the command made is still there: %+v", n, all)
		}
		checkEmpty(t, dir)
		if t.Failed() {
			t.Fatalf("after kill %d", n)
		}
	}
	if left == 0 {
		t.Error("no kill left anything to restore: this test has tested nothing")
	}
	t.Logf("%d kills left %d settings", kills, left)
}

// memoryJournal is one without a disk, where a victim gets further before it is
// killed.
func memoryJournal(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "netdelta-test-")
	if err != nil {
		return newJournal(t)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return filepath.Join(dir, "settings")
}

func killVictim(t *testing.T, ns *sys.NetNS, dir, made string, n int) {
	t.Helper()
	cmd, err := sys.Reexec(roleVictim, dir, made)
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := ns.Start(cmd); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "ready" {
		t.Errorf("kill %d: the victim said %q", n, lines.Text())
	}
	// The random point.
	time.Sleep(time.Duration(rand.Int64N(int64(10 * time.Millisecond))))
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	for lines.Scan() {
		t.Errorf("kill %d: the victim said %q", n, lines.Text())
	}
	cmd.Wait()
	if t.Failed() {
		t.FailNow()
	}
}
