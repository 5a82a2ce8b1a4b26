//go:build linux

package netlab

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"netdelta/internal/labtest"
	"netdelta/internal/sys"
)

// roleLeaver is the role of a process that makes groups and is killed.
const roleLeaver = "__leaver"

func leaver([]string) int {
	lab, err := New()
	if err == nil {
		err = lab.Classify()
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(lab.A.Group.Name())
	select {} // until killed
}

func there(dir string) bool {
	_, err := os.Stat(dir)
	return err == nil
}

// TestKilledLabsGroupsAreSwept has the groups of a killed process removed by the next
// one, and no others.
func TestKilledLabsGroupsAreSwept(t *testing.T) {
	labtest.NoLeaks(t)
	live := classifying(t)
	cmd, err := sys.Reexec(roleLeaver)
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	left := strings.TrimSpace(line)
	if err != nil || !there(left) {
		t.Errorf("the process says %q, %v", line, err)
	}
	classifying(t)
	if !there(left) {
		t.Errorf("%s was removed while its process runs", left)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if !there(left) {
		t.Errorf("%s is gone with its process: nothing is shown", left)
	}
	plain, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if there(left) {
		t.Errorf("%s was left by a lab that has no groups", left)
	}
	last := classifying(t)
	for _, dir := range []string{live.A.Group.Name(), live.B.Group.Name(), last.B.Group.Name()} {
		if !there(dir) {
			t.Errorf("%s, which is in use, was removed", dir)
		}
	}
	if live.A.Group.Name() == last.A.Group.Name() {
		t.Errorf("two labs have the group %s", last.A.Group.Name())
	}
}

// TestGroupInUse: a group that has a process is not removed, and the error says so.
func TestGroupInUse(t *testing.T) {
	lab := classifying(t)
	cmd, err := sys.Reexec(roleMember, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	if err := sys.StartIn(cmd, lab.A.Group); err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	g := lab.A.group
	old := emptyTime
	emptyTime = 0
	err = (&group{Group: g.Group}).close()
	emptyTime = old
	if err == nil || !strings.Contains(err.Error(), "cgroup.procs") || !there(g.Dir) {
		t.Errorf("removing a group with a process in it: %v", err)
	}
	in.Close()
	cmd.Wait()
}
