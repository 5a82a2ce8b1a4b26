package sys_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest"
	"netdelta/internal/sys"
)

func netNSName(t *testing.T) string {
	t.Helper()
	name, err := os.Readlink("/proc/thread-self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func TestDoRunsInTheNamespaceAndComesBack(t *testing.T) {
	labtest.NoLeaks(t)
	a, _ := labtest.Pair(t)
	home := netNSName(t)
	stop := errors.New("stop")
	for range 20 { // threads are used again
		inside := ""
		err := a.Do(func() (err error) {
			if inside, err = os.Readlink("/proc/thread-self/ns/net"); err != nil {
				return err
			}
			return stop
		})
		if err != stop {
			t.Fatalf("Do returned %v, want what the function did", err)
		}
		if inside == home {
			t.Fatal("the function ran at home")
		}
		if now := netNSName(t); now != home {
			t.Fatalf("a thread stayed in %s", now)
		}
	}
}

// TestErrorsWithoutPrivilege: a namespace that was not entered needs no
// return, so one thing has failed and the error tells one.
func TestErrorsWithoutPrivilege(t *testing.T) {
	a, _ := labtest.Pair(t)
	t.Setenv(childVar, "powerless")
	cmd := exec.Command(os.Args[0], childArgs...)
	fd, err := unix.FcntlInt(uintptr(a.Fd()), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "namespace")
	defer f.Close()
	cmd.ExtraFiles = []*os.File{f}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := startPowerless(cmd); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, out.String())
	}
}

// startPowerless starts a command that, though root, has no CAP_SYS_ADMIN.
// The thread that it is started from loses that for good and ends.
func startPowerless(cmd *exec.Cmd) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_SYS_ADMIN, 0, 0, 0)
		if err == nil {
			err = cmd.Start()
		}
		done <- err
	}()
	return <-done
}

// powerless is a child without CAP_SYS_ADMIN that finds a namespace at
// descriptor 3.
func powerless(t *testing.T) {
	if has, err := sys.HasCapability(unix.CAP_SYS_ADMIN); err != nil || has {
		t.Fatalf("CAP_SYS_ADMIN: %v, %v; want none", has, err)
	}
	_, err := sys.NewNetNS()
	checkOneRefusal(t, "NewNetNS", err)

	ns, err := sys.CurrentNetNS()
	if err != nil {
		t.Fatal(err)
	}
	defer ns.Close()
	if err := unix.Dup3(3, ns.Fd(), unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	ran := false
	err = ns.Do(func() error { ran = true; return nil })
	checkOneRefusal(t, "Do", err)
	if ran {
		t.Error("Do ran its function outside of the namespace")
	}
}

func checkOneRefusal(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, unix.EPERM) {
		t.Errorf("%s: %v, want EPERM", what, err)
	}
	text := fmt.Sprint(err)
	if n := strings.Count(text, unix.EPERM.Error()); n != 1 || strings.Contains(text, "\n") {
		t.Errorf("%s says %d times that it was not permitted: %s", what, n, text)
	}
}
