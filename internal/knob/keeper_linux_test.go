package knob

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest"
	"netdelta/internal/sys"
)

// roleKeeper is a process that holds a setting until its input ends.
const roleKeeper = "__knob-keeper"

func keeper(args []string) int {
	h := NewHolder(Config{Journal: args[0], Who: "the keeper"})
	if _, err := h.Set(context.Background(), local(setting(ttl, "88"))); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("ready")
	bufio.NewScanner(os.Stdin).Scan()
	if err := h.Restore(context.Background()); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// TestTwoProcesses: one has the setting until it ends, whether in good order or
// by a signal.
func TestTwoProcesses(t *testing.T) {
	labtest.NoLeaks(t)
	for _, kill := range []bool{false, true} {
		ns, dir := newNS(t), newJournal(t)
		was := readSysctl(t, ns, ttl)
		cmd, err := sys.Reexec(roleKeeper, dir)
		if err != nil {
			t.Fatal(err)
		}
		in, err := cmd.StdinPipe()
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
		if lines := bufio.NewScanner(out); !lines.Scan() || lines.Text() != "ready" {
			t.Errorf("the keeper said %q", lines.Text())
		}
		h := newTestHolder(t, ns, dir)
		_, err = h.Set(t.Context(), local(setting(ttl, "77")))
		if !errors.Is(err, ErrHeld) || !strings.Contains(err.Error(), fmt.Sprintf("the keeper (process %d", cmd.Process.Pid)) {
			t.Errorf("%v, want ErrHeld by the keeper, process %d", err, cmd.Process.Pid)
		}
		if kill {
			cmd.Process.Kill()
		}
		in.Close()
		if err := cmd.Wait(); (err != nil) != kill {
			t.Errorf("the keeper ended with %v", err)
		}
		changes, err := h.Set(t.Context(), local(setting(ttl, "77")))
		if err != nil || len(changes) != 1 || changes[0].Was != was {
			t.Errorf("killed %v: %+v, %v; want it changed from %s", kill, changes, err, was)
		}
	}
}

// TestFindNS: a namespace is found by a process in it, and by a mount.
func TestFindNS(t *testing.T) {
	labtest.NoLeaks(t)
	ns, dir := newNS(t), newJournal(t)
	id, err := ns.ID()
	if err != nil {
		t.Fatal(err)
	}
	if all, _ := processesIn(id.Inode); len(all) != 0 {
		t.Errorf("nobody is in it, but %v", all)
	}
	cmd, err := sys.Reexec(roleKeeper, dir)
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := ns.Start(cmd); err != nil {
		t.Fatal(err)
	}
	if all, _ := processesIn(id.Inode); len(all) != 1 || !strings.Contains(all[0], fmt.Sprint(cmd.Process.Pid)) {
		t.Errorf("process %d is in it, but %v", cmd.Process.Pid, all)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}

	at := filepath.Join(t.TempDir(), "a name")
	if err := os.WriteFile(at, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(fmt.Sprintf("/proc/self/fd/%d", ns.Fd()), at, "", unix.MS_BIND, ""); err != nil {
		labtest.Skip(t, err)
	}
	defer unix.Unmount(at, unix.MNT_DETACH)
	all, err := mountsOf(id.Inode)
	if err != nil || len(all) != 1 || all[0] != at {
		t.Fatalf("%v, %v; want %s", all, err, at)
	}
	found, err := sys.OpenNetNS(at)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	if again, err := found.ID(); err != nil || again != id {
		t.Errorf("%+v, %v; want %+v", again, err, id)
	}
	if none, err := sys.OpenNetNS(dir); err == nil {
		none.Close()
		t.Error("a directory is taken for a namespace")
	}
}
