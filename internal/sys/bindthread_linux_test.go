package sys_test

import (
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

func TestBindThread(t *testing.T) {
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	last := cpus[len(cpus)-1]
	done := make(chan struct{})
	go func() { // its thread, which is bound, ends with it
		defer close(done)
		runtime.LockOSThread()
		if err := sys.BindThread(unix.Gettid(), last); err != nil {
			t.Error(err)
		}
		if got, err := sys.OnlineCPUs(); err != nil || !slices.Equal(got, []int{last}) {
			t.Errorf("it may use CPUs %v, %v, want %d", got, err, last)
		}
	}()
	<-done
	if err := sys.BindThread(unix.Gettid(), 1<<9); !errors.Is(err, unix.EINVAL) {
		t.Errorf("a CPU that is not there: %v", err)
	}
	if err := sys.BindThread(1<<30, last); !errors.Is(err, unix.ESRCH) {
		t.Errorf("a thread that is not there: %v", err)
	}
}

// TestBindThreadOfAnother has an ordinary user bind the thread of process 1.
func TestBindThreadOfAnother(t *testing.T) {
	const nobody = 65534
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if unix.Geteuid() == 0 {
			// This thread's only, which ends with the goroutine.
			if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody); e != 0 {
				done <- fs.ErrPermission // a user namespace that has no such user
				return
			}
		}
		done <- sys.BindThread(1, 0)
	}()
	if err := <-done; !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v", err)
	}
}
