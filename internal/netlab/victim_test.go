//go:build linux

package netlab

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest"
	"netdelta/internal/sys"
)

// roleVictim is the role of a process that builds a link and is killed.
const roleVictim = "__victim"

// victim builds the link of its arguments, tells that, and waits.
func victim(args []string) int {
	lab, err := New()
	if err == nil {
		_, err = lab.Connect(context.Background(), LinkConfig{Kind: args[0], Context: args[1], WireCPU: sys.NoCPU})
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("ready", lab.A.NS.Fd(), lab.B.NS.Fd())
	select {} // until killed
}

// TestKilledParentLeavesNothing kills a process with a link by SIGKILL and
// looks for its child processes, and for its interfaces in the namespaces,
// which the test holds on to.
func TestKilledParentLeavesNothing(t *testing.T) {
	for _, c := range []LinkConfig{{Kind: Ether, Context: "kthread"}, {Kind: Ether, Context: "uthread"}} {
		t.Run(c.Context, func(t *testing.T) {
			needLink(t, c)
			labtest.NoLeaks(t)
			home, _ := labtest.Pair(t)
			cmd, err := sys.Reexec(roleVictim, c.Kind, c.Context)
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
			var a, b int
			line, err := bufio.NewReader(out).ReadString('\n')
			if _, scanErr := fmt.Sscanf(line, "ready %d %d", &a, &b); err != nil || scanErr != nil {
				cmd.Process.Kill()
				cmd.Wait()
				t.Fatalf("victim says %q: %v, %v", line, err, scanErr)
			}
			var spaces []*os.File
			for _, fd := range []int{a, b} {
				f, err := os.Open(fmt.Sprintf("/proc/%d/fd/%d", cmd.Process.Pid, fd))
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				spaces = append(spaces, f)
			}
			children, err := labtest.Children(cmd.Process.Pid)
			if err != nil || len(children) != 1 {
				t.Fatalf("victim has children %v, %v; want its wire", children, err)
			}
			for i, f := range spaces {
				if names := interfaces(t, home, f); len(names) != 2 {
					t.Errorf("before: namespace %d has %v, want lo and a TAP", i, names)
				}
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			cmd.Wait()
			eventually(t, "the wire process is gone", func() bool {
				return !labtest.Alive(children[0])
			})
			for i, f := range spaces {
				eventually(t, fmt.Sprintf("namespace %d has only lo", i), func() bool {
					return strings.Join(interfaces(t, home, f), " ") == "lo"
				})
			}
		})
	}
}

// interfaces lists the interfaces of a namespace, on a thread of home's that
// is brought back afterwards.
func interfaces(t *testing.T, home *sys.NetNS, ns *os.File) []string {
	t.Helper()
	var names []string
	err := home.Do(func() error {
		if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			return err
		}
		text, err := os.ReadFile("/proc/thread-self/net/dev")
		for _, line := range strings.Split(string(text), "\n") {
			if name, _, ok := strings.Cut(line, ":"); ok {
				names = append(names, strings.TrimSpace(name))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("not so after 5 s: %s", what)
			return
		}
	}
}
