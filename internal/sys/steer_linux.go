package sys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// rpsDefault holds, for each network namespace, the CPUs to which interfaces that
// are made there steer what they receive (net.core.rps_default_mask, Linux 6.3).
const rpsDefault = "/proc/sys/net/core/rps_default_mask"

// MakeSteered runs make, which makes an interface of that name in the calling
// thread's network namespace, which is n, and has its first receive queue steer
// what it receives to the backlog queue of one CPU and no other; that is read back.
// The namespace's root may do it from Linux 6.3 on, before it takes CAP_NET_ADMIN in
// the initial user namespace. An error that wraps fs.ErrNotExist is from a kernel
// without CONFIG_RPS.
func (n *NetNS) MakeSteered(device string, cpu int, make func() error) error {
	early := steerNew(cpu)
	err := make()
	if early == nil {
		err = errors.Join(err, steerNew(NoCPU))
	}
	if err != nil {
		return err
	}
	s, err := n.OpenSysfs()
	if err != nil {
		return err
	}
	if early == nil {
		err = s.CheckSteered(device, cpu)
	} else if err = s.steer(device, cpu); err != nil {
		err = fmt.Errorf("%w; and before it was made: %w", err, early)
	}
	return errors.Join(err, s.Close())
}

// steerNew has interfaces that are made in the calling thread's network namespace
// steer the packets that they receive to the backlog queue of that CPU (RPS,
// Documentation/networking/scaling.rst); NoCPU has them steer none, as at the
// start.
func steerNew(cpu int) error {
	before, err := os.ReadFile(rpsDefault)
	if err != nil {
		return err
	}
	mask, err := maskLike(strings.TrimSpace(string(before)), cpu)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(rpsDefault, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(mask)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s to %s: %w%s", mask, rpsDefault, bare(err), isolated(err, cpu))
	}
	return nil
}

// steer has the first receive queue of an interface steer to that CPU. It takes
// CAP_NET_ADMIN in the initial user namespace (store_rps_map in
// net/core/net-sysfs.c). What does not stick is an error.
func (s *Sysfs) steer(device string, cpu int) error {
	path := rpsPath(device)
	before, err := s.Get(path)
	if err != nil {
		return err
	}
	mask, err := maskLike(before, cpu)
	if err != nil {
		return err
	}
	if err := s.Set(path, mask); err != nil {
		return fmt.Errorf("%w%s", err, isolated(err, cpu))
	}
	return nil
}

// CheckSteered reports whether the first receive queue of an interface steers to
// that CPU and no other, NoCPU for none.
func (s *Sysfs) CheckSteered(device string, cpu int) error {
	got, err := s.Get(rpsPath(device))
	if err != nil {
		if cpu == NoCPU && errors.Is(err, fs.ErrNotExist) {
			return nil // no CONFIG_RPS
		}
		return err
	}
	want, err := maskLike(got, cpu)
	if err == nil && got != want {
		err = fmt.Errorf("%s has packet steering (rps_cpus) %s after %s was asked for: the kernel ignored it", device, got, want)
	}
	return err
}

func rpsPath(device string) string { return "class/net/" + device + "/queues/rx-0/rps_cpus" }

func isolated(err error, cpu int) string {
	if errors.Is(err, unix.EINVAL) {
		return fmt.Sprintf(" (CPU %d is isolated, nohz_full or not there: choose another)", cpu)
	}
	return ""
}

// maskLike writes the set of one CPU, or of none, as the kernel wrote another set:
// hexadecimal, in groups of 8 digits with commas between, as long as that one.
func maskLike(text string, cpu int) (string, error) {
	mask := []byte(strings.Map(func(r rune) rune {
		if r == ',' {
			return r
		}
		return '0'
	}, text))
	if cpu == NoCPU {
		return string(mask), nil
	}
	digit := cpu / 4
	if cpu < 0 {
		digit = len(mask)
	}
	for i := len(mask) - 1; i >= 0; i-- {
		if mask[i] == ',' {
			continue
		}
		if digit == 0 {
			mask[i] = "1248"[cpu%4]
			return string(mask), nil
		}
		digit--
	}
	return "", fmt.Errorf("CPU %d does not fit into the kernel's set of CPUs %q: there is none", cpu, text)
}
