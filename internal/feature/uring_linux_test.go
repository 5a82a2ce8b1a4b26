package feature

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func TestURingHint(t *testing.T) {
	for _, c := range []struct {
		name     string
		err      error
		disabled string
		need     string
		advice   string
	}{
		{"off for everybody", unix.EPERM, "2", "io_uring_disabled=0", "sysctl -w kernel.io_uring_disabled=0"},
		{"off for users", unix.EPERM, "1", "io_uring_group", "run as root"},
		{"a filter that says so", unix.EPERM, "0", "seccomp", "container"},
		{"a filter on a kernel without the setting", unix.EPERM, "", "seccomp", "container"},
		{"a filter that hides it, or an old kernel", unix.ENOSYS, "", "Linux 6.0", "container"},
		{"too old", errors.ErrUnsupported, "0", "Linux 6.0", ""},
		{"too old for an operation", unix.EINVAL, "", "Linux 6.0", ""},
		{"locked memory", unix.ENOMEM, "0", "RLIMIT_MEMLOCK", "ulimit -l"},
	} {
		need, advice := uringHint(fmt.Errorf("io_uring_setup: %w", c.err), "Linux 6.0", func(name string) string {
			if name != "kernel.io_uring_disabled" {
				t.Errorf("%s: asks for %s", c.name, name)
			}
			return c.disabled
		})
		if !strings.Contains(need, c.need) || !strings.Contains(advice, c.advice) {
			t.Errorf("%s: needs %q; %q", c.name, need, advice)
		}
		// Nobody knows here whether this is a container.
		if strings.Contains(advice, "container") && !strings.Contains(advice, "if this is a container") {
			t.Errorf("%s: takes this for a container: %s", c.name, advice)
		}
	}
}

// TestURingAnswers: what does more needs what does less.
func TestURingAnswers(t *testing.T) {
	if err := URing.Err(); err != nil && URingSendZC.Err() == nil {
		t.Errorf("sends without copying, but %v", err)
	}
}

// TestURingForbidden asks on a thread whose seccomp filter forbids io_uring in
// the two ways in which container runtimes do. The thread ends with the
// goroutine that is locked to it.
func TestURingForbidden(t *testing.T) {
	for _, errno := range []unix.Errno{unix.EPERM, unix.ENOSYS} {
		done := make(chan error)
		go func() {
			runtime.LockOSThread()
			if err := forbid(errno, unix.SYS_IO_URING_SETUP); err != nil {
				done <- err
				return
			}
			for _, try := range []func() *Error{tryURing, tryURingSendZC} {
				switch e := try(); {
				case e == nil:
					t.Errorf("%v of io_uring_setup is no error", errno)
				case !errors.Is(e, errno) || e.Need == "" || e.Advice == "":
					t.Errorf("%v of io_uring_setup: %v", errno, e)
				}
			}
			done <- nil
		}()
		if err := <-done; err != nil {
			t.Skip(err)
		}
	}
}

// forbid has system calls of the calling thread with that number fail
// (seccomp(2)).
func forbid(errno unix.Errno, call uint32) error {
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // seccomp_data.nr
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: call, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	all := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&all)), 0, 0)
}
