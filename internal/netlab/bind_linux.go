package netlab

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// bindNew runs start, after which the host's interface has kernel threads, and
// binds those to the handlers' CPU, if there is one. Where that cannot be done here
// the link does without it and warns.
//
// A thread is found by its interface's name, and the labs of others have
// interfaces of the same names. So the host's are those that were not there
// before; if there are more of them than the interface can have, another lab began
// at the same time, and none is touched.
func (k *Link) bindNew(h *Host, start func() error) error {
	if k.cfg.HandlerCPU == sys.NoCPU {
		return start()
	}
	before, seen, err := sys.NAPIThreads(h.Device)
	if err != nil {
		return err
	}
	if err := start(); err != nil {
		return err
	}
	if !seen {
		k.warnUnbound(h, errors.New("kernel threads are hidden here (a PID namespace, hidepid)"))
		return nil
	}
	now, _, err := sys.NAPIThreads(h.Device)
	if err != nil {
		return err
	}
	threads := slices.DeleteFunc(now, func(pid int) bool { return slices.Contains(before, pid) })
	switch len(threads) {
	case 0:
		return fmt.Errorf("%s has threaded NAPI, but there is no new kernel thread %s", h.Device, sys.NAPIPrefix(h.Device))
	case 1: // both kinds have one receive queue
	default:
		k.warnUnbound(h, fmt.Errorf("%d kernel threads %s began at the same time: another lab was made, and which is whose cannot be told", len(threads), sys.NAPIPrefix(h.Device)))
		return nil
	}
	err = sys.BindThread(threads[0], k.cfg.HandlerCPU)
	if errors.Is(err, fs.ErrPermission) {
		k.warnUnbound(h, err)
		return nil
	}
	if errors.Is(err, unix.ESRCH) {
		k.warnUnbound(h, fmt.Errorf("%w: it was another lab's", err))
		return nil
	}
	return err
}

func (k *Link) warnUnbound(h *Host, why error) {
	k.warnings = append(k.warnings, fmt.Sprintf("host %s's NAPI thread is not bound to CPU %d, but left to the scheduler: %v", h.Name, k.cfg.HandlerCPU, why))
}
