package feature

import (
	"errors"
	"io/fs"
	"os"

	"netdelta/internal/sys"
	"netdelta/internal/sys/tuntap"
)

// trySteering has a TAP steer to the first CPU that this process may use.
func trySteering() *Error {
	tried := "have a TAP steer what it receives to one CPU (rps_cpus)"
	if e := TAP.Err(); e != nil {
		return &Error{Tried: tried, Need: "TAP devices", Err: e}
	}
	err := inNewNetNS(func(ns *sys.NetNS) error {
		cpus, err := sys.OnlineCPUs()
		if err != nil {
			return err
		}
		var tap *os.File
		err = ns.MakeSteered("probe0", cpus[0], func() (err error) {
			tap, _, err = tuntap.Open("probe0", tuntap.Options{})
			return err
		})
		if tap != nil {
			err = errors.Join(err, tap.Close())
		}
		return err
	})
	if err == nil {
		return nil
	}
	e := &Error{Tried: tried, Need: "a CPU to which packets may be steered", Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Need = "a kernel built with CONFIG_RPS"
	case errors.Is(err, fs.ErrPermission):
		e.Need = "Linux 6.3 or later, or CAP_NET_ADMIN in the initial user namespace; and a /sys with nothing mounted over parts of it"
		e.Advice = "run as root, outside of any user namespace or container"
	}
	return e
}
