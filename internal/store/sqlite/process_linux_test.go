package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/result"
	"netdelta/internal/store"
	"netdelta/internal/store/storetest"
)

// roles are the processes that these tests start of their own binary.
var roles = map[string]func(args []string) error{
	"__append":   appendRole,
	"__readonly": readOnlyRole,
}

func dispatch(args []string) (status int, ok bool) {
	if len(args) == 0 || roles[args[0]] == nil {
		return 0, false
	}
	if err := roles[args[0]](args[1:]); err != nil {
		fmt.Println("error:", err)
		return 1, true
	}
	return 0, true
}

// child starts a role. It is killed when the test ends, if not before.
func child(t *testing.T, args ...string) (cmd *exec.Cmd, out *bufio.Scanner) {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd = exec.CommandContext(t.Context(), exe, args...)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	return cmd, bufio.NewScanner(pipe)
}

// appendRole begins a run in the store args[0] and adds args[1] trials to it,
// in turns one and args[2] at once. It prints the run's id and then, after
// each call, how many trials are acknowledged.
func appendRole(args []string) error {
	ctx := context.Background()
	count, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	batch, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	s, err := Open(ctx, args[0], Options{})
	if err != nil {
		return err
	}
	run := storetest.NewRun("child", 0)
	if err := s.Begin(ctx, run); err != nil {
		return err
	}
	fmt.Println(run.ID)
	for n, size := 0, 1; n < count; n, size = n+size, batch+1-size {
		size = min(size, count-n)
		if err := s.Append(ctx, run.ID, storetest.NewTrials(n, n+size)...); err != nil {
			return err
		}
		fmt.Println(n + size)
	}
	if err := s.Finish(ctx, run.ID, result.Complete, time.Now(), nil); err != nil {
		return err
	}
	return s.Close()
}

func TestProcessesOnOneStore(t *testing.T) {
	path := newPath(t) // which they make, all at once
	const children, trials = 3, 60
	var outs []*bufio.Scanner
	var cmds []*exec.Cmd
	for range children {
		cmd, out := child(t, "__append", path, strconv.Itoa(trials), "5")
		cmds, outs = append(cmds, cmd), append(outs, out)
	}
	mine := openAt(t, path)
	run := storetest.Begin(t, mine, "mine", 0)
	for n := range trials {
		must(t, mine.Append(t.Context(), run.ID, storetest.NewTrial(n)))
	}
	storetest.CheckTrials(t, mine, run.ID, storetest.NewTrials(0, trials))
	for i, out := range outs {
		out.Scan()
		id, last := out.Text(), ""
		for out.Scan() {
			last = out.Text()
		}
		if err := cmds[i].Wait(); err != nil || last != strconv.Itoa(trials) {
			t.Fatalf("a process ended with %v after %q", err, last)
		}
		storetest.CheckTrials(t, mine, id, storetest.NewTrials(0, trials))
	}
	runs, err := mine.Find(t.Context(), "child")
	must(t, err)
	if len(runs) != children || runs[0].State != result.Complete {
		t.Errorf("the processes' runs are %+v", runs)
	}
}

// TestKilled kills a process while it adds trials, at one point after the
// other. Every trial that it was told is kept must be there.
func TestKilled(t *testing.T) {
	path := newPath(t)
	more := 0
	for round, acks := range []int{0, 1, 2, 7, 20, 50} {
		cmd, out := child(t, "__append", path, "1000000", "40")
		if !out.Scan() {
			t.Fatalf("round %d: no run was begun", round)
		}
		id, kept := out.Text(), 0
		for range acks {
			out.Scan()
			kept = number(t, out.Text())
		}
		must(t, cmd.Process.Kill())
		for out.Scan() { // acknowledged before the kill took effect
			kept = number(t, out.Text())
		}
		cmd.Wait() // its error is the kill

		s, err := Open(t.Context(), path, Options{})
		must(t, err)
		got, err := store.Collect(t.Context(), s, id)
		must(t, err)
		if len(got) < kept {
			t.Errorf("round %d: %d trials are there, %d were acknowledged", round, len(got), kept)
		}
		more += len(got) - kept
		if d := cmp.Diff(storetest.NewTrials(0, len(got)), got, storetest.Same); d != "" {
			t.Errorf("round %d: the trials differ:\n%s", round, d)
		}
		run, err := store.Latest(t.Context(), s, id)
		if err != nil || run.State != result.Partial || run.Warnings[len(run.Warnings)-1] != store.CutOff() {
			t.Errorf("round %d: the run reads as %+v, %v", round, run, err)
		}
		if runs, err := s.Find(t.Context(), "child"); err != nil || len(runs) != round+1 {
			t.Errorf("round %d: %d runs are there, %v", round, len(runs), err)
		}
		must(t, s.Close())
	}
	t.Logf("%d trials were there whose acknowledgement the kill overtook", more)
	var ok string
	must(t, raw(t, path).QueryRow("PRAGMA integrity_check").Scan(&ok))
	if ok != "ok" {
		t.Errorf("the file's check says %s", ok)
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("the process said: %s", text)
	}
	return n
}

// TestKilledWhileItMakesTheStore kills a process as soon as one part after
// the other of a new store is there. Whatever it leaves, the next one can use.
func TestKilledWhileItMakesTheStore(t *testing.T) {
	for _, c := range []struct {
		name, file string
		size       int64
	}{
		{"the file", "", 0},
		{"its first page", "", 1},
		{"its schema", "", 5 * 8192},
		{"the log", "-wal", 0},
		{"a write to the log", "-wal", 1},
		{"the lease", "-lease", 0},
	} {
		for range 4 {
			path := newPath(t)
			cmd, out := child(t, "__append", path, "1000000", "1")
			for {
				if st, err := os.Stat(path + c.file); err == nil && st.Size() >= c.size {
					break
				}
				if t.Context().Err() != nil {
					t.Fatal("it never came to " + c.name)
				}
				runtime.Gosched()
			}
			must(t, cmd.Process.Kill())
			for out.Scan() {
			}
			cmd.Wait()
			s, err := Open(t.Context(), path, Options{})
			if err != nil {
				t.Errorf("killed at %s: %v", c.name, err)
				continue
			}
			run := storetest.Begin(t, s, "after", 0)
			must(t, s.Append(t.Context(), run.ID, storetest.NewTrial(0)))
			must(t, s.Close())
		}
	}
}

var errWant = errors.New("not as it must be")

// readOnlyRole opens the store args[0] in a directory that it can't write.
func readOnlyRole(args []string) error {
	ctx := context.Background()
	s, err := Open(ctx, args[0], Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	runs, err := s.Find(ctx, "old")
	if err != nil {
		return err
	}
	trials, err := store.Collect(ctx, s, runs[0].ID)
	if err != nil {
		return err
	}
	fmt.Println("read", len(trials))
	if !errors.Is(s.ReadOnly(), store.ErrReadOnly) {
		return fmt.Errorf("%w: ReadOnly is %v", errWant, s.ReadOnly())
	}
	for what, err := range map[string]error{
		"begin":  s.Begin(ctx, storetest.NewRun("new", 0)),
		"append": s.Append(ctx, runs[0].ID, storetest.NewTrial(0)),
		"remove": s.Remove(ctx, runs[0].ID),
	} {
		if !errors.Is(err, store.ErrReadOnly) || !strings.Contains(err.Error(), args[0]) {
			return fmt.Errorf("%w: %s: %v", errWant, what, err)
		}
	}
	return nil
}
