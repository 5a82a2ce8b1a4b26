package netlab

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"netdelta/internal/ether"
	"netdelta/internal/feature"
)

// polling tells whether the context's interfaces have a NAPI poll of their
// own, and whether a kernel thread runs it.
func (k *Link) polling() (napi, threaded bool) {
	if k.cfg.Kind == Veth {
		c := vethContextOf(k.cfg.Context)
		return c.gro, c.threaded
	}
	c, _ := ether.ContextOf(k.cfg.Context)
	return c.TAP.NAPI, c.Threaded
}

// verifyThreads reads back whether the interface's NAPI polls run in kernel
// threads, in every context that has polls: a context in softirq is one only
// if nothing has made it threaded. Where this system gives no threads at all,
// or hides the setting, there is nothing to read.
func (k *Link) verifyThreads(h *Host) error {
	napi, threaded := k.polling()
	if !napi || feature.ThreadedNAPI.Err() != nil {
		return nil
	}
	fs, err := h.NS.OpenSysfs()
	if err != nil {
		return err
	}
	got, err := fs.Get("class/net/" + h.Device + "/threaded")
	if err = errors.Join(err, fs.Close()); err != nil {
		return err
	}
	want := "0"
	if threaded {
		want = "1"
	}
	if got != want {
		return ignored(h.Device, "threaded NAPI", got, want)
	}
	if !threaded {
		return nil
	}
	// Another lab's threads can have the same name, so none is a fault and
	// some are no proof.
	threads, seen, err := napiThreads(h.Device)
	if err == nil && seen && len(threads) == 0 {
		err = fmt.Errorf("%s has threaded NAPI, but there is no kernel thread %s", h.Device, napiPrefix(h.Device))
	}
	return err
}

// napiPrefix is how the names of a device's NAPI threads begin; what follows
// is the instance's number (napi_kthread_create in net/core/dev.c).
func napiPrefix(device string) string { return "napi/" + device + "-" }

// kthreadd is the process number of the kernel threads' parent.
const kthreadd = 2

// napiThreads lists the kernel threads that poll interfaces of that name, in
// whatever namespace those are. seen is false where kernel threads are hidden:
// in a PID namespace, or by the mount option hidepid.
func napiThreads(device string) (pids []int, seen bool, err error) {
	if comm, err := commOf(kthreadd); err != nil || comm != "kthreadd" {
		return nil, false, nil
	}
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, false, err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil, false, err
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		// An error is that of a process that has ended.
		if comm, err := commOf(pid); err == nil && strings.HasPrefix(comm, napiPrefix(device)) {
			pids = append(pids, pid)
		}
	}
	return pids, true, nil
}

// commOf is the name of a process or kernel thread (proc_pid_comm(5)).
func commOf(pid int) (string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.TrimSuffix(string(text), "\n"), err
}
