package netlab

import (
	"errors"
	"fmt"

	"netdelta/internal/feature"
	"netdelta/internal/sys"
)

// polling tells whether the context's interfaces have a NAPI poll of their
// own, and whether a kernel thread runs it.
func (k *Link) polling() (napi, threaded bool) {
	if k.cfg.Kind == Veth {
		c := vethContextOf(k.cfg.Context)
		return c.gro, c.threaded
	}
	c := etherContextOf(k.cfg.Context)
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
	threads, seen, err := sys.NAPIThreads(h.Device)
	if err == nil && seen && len(threads) == 0 {
		err = fmt.Errorf("%s has threaded NAPI, but there is no kernel thread %s", h.Device, sys.NAPIPrefix(h.Device))
	}
	return err
}
