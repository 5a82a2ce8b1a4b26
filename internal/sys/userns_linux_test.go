package sys_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/sys"
)

// childVar tells TestUserNSChild, run in a process of its own, what to be.
const childVar = "NETDELTA_TEST_USERNS_CHILD"

var childArgs = []string{"-test.run=^TestUserNSChild$"}

// children is the table of what TestUserNSChild can be.
var children = map[string]func(t *testing.T){
	// inspect looks around in the user namespace and ends with status 7.
	"inspect": func(t *testing.T) {
		if unix.Geteuid() != 0 {
			t.Errorf("user id %d inside", unix.Geteuid())
		}
		if has, err := sys.HasCapability(unix.CAP_NET_ADMIN); err != nil || !has {
			t.Errorf("CAP_NET_ADMIN inside: %v, %v", has, err)
		}
		ns, err := sys.NewNetNS()
		if err != nil {
			t.Fatal(err)
		}
		if err := ns.Do(func() error { return nil }); err != nil {
			t.Errorf("go to another network namespace and back: %v", err)
		}
		fs, err := ns.OpenSysfs()
		if err != nil {
			t.Fatal(err)
		}
		if index, err := fs.Get("class/net/lo/ifindex"); err != nil || index != "1" {
			t.Errorf("lo has index %q, %v", index, err)
		}
		if _, err := sys.ReexecInUserNS(childArgs); err == nil {
			t.Error("started itself once more")
		}
		if !t.Failed() {
			os.Exit(7)
		}
	},
	"powerless": powerless,
	// killed ends by a signal.
	"killed": func(*testing.T) {
		unix.Kill(os.Getpid(), unix.SIGKILL)
	},
	// wait tells its pid and ends with the number of the signal that it gets.
	"wait": func(*testing.T) {
		got := make(chan os.Signal, 1)
		signal.Notify(got, unix.SIGTERM, unix.SIGINT)
		fmt.Println("pid", os.Getpid())
		s := <-got
		os.Exit(int(s.(unix.Signal)))
	},
	// parent runs wait in a user namespace and ends with its status.
	"parent": func(t *testing.T) {
		os.Setenv(childVar, "wait")
		status, err := sys.ReexecInUserNS(childArgs)
		if err != nil {
			t.Fatal(err)
		}
		os.Exit(status)
	},
}

func TestUserNSChild(t *testing.T) {
	if be := children[os.Getenv(childVar)]; be != nil {
		be(t)
	}
}

func TestReexecInUserNS(t *testing.T) {
	labtest.Need(t, feature.UserNS)
	labtest.NoLeaks(t)
	for child, want := range map[string]int{"inspect": 7, "killed": 128 + 9} {
		t.Setenv(childVar, child)
		status, err := sys.ReexecInUserNS(childArgs)
		if err != nil || status != want {
			t.Errorf("%s: status %d, %v; want %d", child, status, err, want)
		}
	}
}

// startParent starts a process whose child waits in a user namespace.
func startParent(t *testing.T) (parent *exec.Cmd, child int) {
	t.Helper()
	labtest.Need(t, feature.UserNS)
	parent = exec.Command(os.Args[0], childArgs...)
	parent.Env = append(os.Environ(), childVar+"=parent")
	// A process group of its own: no terminal's keys reach it.
	parent.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	line, err := r.ReadString('\n')
	if _, scanErr := fmt.Sscanf(line, "pid %d", &child); err != nil || scanErr != nil {
		parent.Process.Kill()
		rest, _ := io.ReadAll(r)
		parent.Wait()
		t.Fatalf("parent says %q: %v, %v", line+string(rest), err, scanErr)
	}
	return parent, child
}

func TestSignalsArePassedOn(t *testing.T) {
	for _, s := range []unix.Signal{unix.SIGTERM, unix.SIGINT} {
		parent, _ := startParent(t)
		if err := parent.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		parent.Wait()
		if got := parent.ProcessState.ExitCode(); got != int(s) {
			t.Errorf("%v: the child ended with %d, want %d", s, got, int(s))
		}
	}
}

func TestChildDiesWithItsParent(t *testing.T) {
	parent, child := startParent(t)
	if !labtest.Alive(child) {
		t.Fatalf("child %d is not there", child)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	parent.Wait()
	for end := time.Now().Add(5 * time.Second); labtest.Alive(child); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			unix.Kill(child, unix.SIGKILL)
			t.Fatalf("child %d outlives its parent", child)
		}
	}
}

func TestTryUserNSLeavesNothing(t *testing.T) {
	labtest.Need(t, feature.UserNS)
	labtest.NoLeaks(t)
	for range 3 {
		if err := sys.TryUserNS(); err != nil {
			t.Error(err)
		}
	}
}
