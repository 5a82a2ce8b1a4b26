package sys

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// onThread runs f on a thread that ends with it.
func onThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := PinThread(NoCPU); err == nil {
			f()
		}
	}()
	<-done
}

func TestSetFIFO(t *testing.T) {
	onThread(func() {
		switch err := SetFIFO(7); {
		case errors.Is(err, fs.ErrPermission):
			t.Log(err)
		case err != nil:
			t.Error(err)
		default:
			attr, err := unix.SchedGetAttr(0, 0)
			if err != nil || attr.Policy != unix.SCHED_FIFO || attr.Priority != 7 || attr.Flags&unix.SCHED_FLAG_RESET_ON_FORK == 0 {
				t.Errorf("%+v, %v", attr, err)
			}
		}
		for _, priority := range []int{-1, 0, 100} {
			if err := SetFIFO(priority); err == nil || !strings.Contains(err.Error(), "1 to 99") {
				t.Errorf("priority %d: error %v", priority, err)
			}
		}
	})
}

func TestSetFIFOWithoutPrivilege(t *testing.T) {
	onThread(func() {
		head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var data [2]unix.CapUserData
		if err := unix.Capget(&head, &data[0]); err != nil {
			t.Error(err)
			return
		}
		data[0].Effective &^= 1 << unix.CAP_SYS_NICE
		if err := unix.Capset(&head, &data[0]); err != nil {
			t.Error(err)
			return
		}
		var limit unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_RTPRIO, &limit); err != nil {
			t.Error(err)
			return
		}
		err := SetFIFO(99)
		if limit.Cur >= 99 {
			return // the limit allows it
		}
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "CAP_SYS_NICE") || !strings.Contains(err.Error(), "RLIMIT_RTPRIO") {
			t.Errorf("error %v", err)
		}
	})
}

func TestPinThreadNamesUsableCPUs(t *testing.T) {
	cpus, err := OnlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	for _, cpu := range []int{1 << 20, 1023} {
		onThread(func() {
			if err := PinThread(cpu); err == nil || !strings.Contains(err.Error(), "it may use CPUs "+ranges(cpus)) {
				t.Errorf("CPU %d: error %v", cpu, err)
			}
		})
	}
}

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int{
		"": nil, "0": {0}, "0-1": {0, 1}, "0-3,8,10-11": {0, 1, 2, 3, 8, 10, 11}, "1,3": {1, 3},
	} {
		if got := ranges(numbers); got != want {
			t.Errorf("%v: %q, want %q", numbers, got, want)
		}
	}
}
