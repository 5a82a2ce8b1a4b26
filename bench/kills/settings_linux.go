package main

import (
	"fmt"
	"strings"

	"netdelta/internal/netlab"
	"netdelta/internal/sys"
)

// settings are what the runs change, as independent readers see them.
type settings struct {
	mtu, queue, threaded string
	gro                  bool
}

// String is for messages.
func (s settings) String() string {
	return fmt.Sprintf("mtu %s, txqueuelen %s, threaded %s, gro %v", s.mtu, s.queue, s.threaded, s.gro)
}

// factors are the flags that have a run change them.
func factors() []string {
	return []string{"--set", "mtu=mtu:1500,1400", "--set", "queue=txqueuelen:1000,500", "--set", "threads=threaded:off,on", "--set", "gro=gro:on,off"}
}

// read takes them from the kernel, past the code under test.
func read(h *netlab.Host) (s settings, err error) {
	fs, err := h.NS.OpenSysfs()
	if err != nil {
		return s, err
	}
	defer fs.Close()
	for _, f := range []struct {
		name string
		into *string
	}{{"mtu", &s.mtu}, {"tx_queue_len", &s.queue}, {"threaded", &s.threaded}} {
		if *f.into, err = fs.Get("class/net/" + h.Device + "/" + f.name); err != nil {
			return s, err
		}
		*f.into = strings.TrimSpace(*f.into)
	}
	err = h.NS.Do(func() (err error) {
		s.gro, err = sys.GetEthtoolFlag(h.Device, sys.GRO)
		return err
	})
	return s, err
}
