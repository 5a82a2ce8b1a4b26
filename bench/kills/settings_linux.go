package main

import (
	"fmt"
	"os"
	"strings"

	"netdelta/internal/netlab"
	"netdelta/internal/sys"
)

// settings are what the runs change, as independent readers see them.
type settings struct {
	mtu, queue, stamps string
	gro                bool
}

// String is for messages.
func (s settings) String() string {
	return fmt.Sprintf("mtu %s, txqueuelen %s, tcp_timestamps %s, gro %v", s.mtu, s.queue, s.stamps, s.gro)
}

// factors are the flags that have a run change them.
func factors() []string {
	return []string{"--set", "mtu=mtu:1500,1400", "--set", "queue=txqueuelen:1000,500", "--set", "stamps=sysctl.net.ipv4.tcp_timestamps:1,0", "--set", "gro=gro:on,off"}
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
	}{{"mtu", &s.mtu}, {"tx_queue_len", &s.queue}} {
		if *f.into, err = fs.Get("class/net/" + h.Device + "/" + f.name); err != nil {
			return s, err
		}
		*f.into = strings.TrimSpace(*f.into)
	}
	err = h.NS.Do(func() (err error) {
		stamps, err := os.ReadFile("/proc/sys/net/ipv4/tcp_timestamps")
		if err != nil {
			return err
		}
		s.stamps = strings.TrimSpace(string(stamps))
		s.gro, err = sys.GetEthtoolFlag(h.Device, sys.GRO)
		return err
	})
	return s, err
}
