package sys_test

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest"
	"netdelta/internal/sys"
)

func TestSysfsIsTheNamespaces(t *testing.T) {
	labtest.NoLeaks(t)
	a, b := labtest.Pair(t)
	open := func(ns *sys.NetNS) *sys.Sysfs {
		fs, err := ns.OpenSysfs()
		if err != nil {
			if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) {
				labtest.Skip(t, err)
			}
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := fs.Close(); err != nil {
				t.Error(err)
			}
		})
		return fs
	}
	fsA, fsB := open(a), open(b)
	const file = "class/net/lo/tx_queue_len"
	if err := fsA.Set(file, "77"); err != nil {
		t.Fatal(err)
	}
	if got, err := fsA.Get(file); err != nil || got != "77" {
		t.Errorf("a has %q, %v", got, err)
	}
	if got, err := fsB.Get(file); err != nil || got == "77" {
		t.Errorf("b has %q, %v: it is a's", got, err)
	}
	for _, c := range []struct{ path, value, want string }{
		{file, "0115", "ignored"},                                    // octal, reads back as 77
		{"class/net/lo/threaded", "1", "/sys/class/net/lo/threaded"}, // loopback has no NAPI
		{"class/net/nothing/mtu", "1500", "/sys/class/net/nothing/mtu"},
		{"class/net/lo/ifindex", "9", "/sys/class/net/lo/ifindex"}, // read-only
	} {
		if err := fsA.Set(c.path, c.value); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s to %s: got %v, want %q in it", c.value, c.path, err, c.want)
		}
	}
}

func TestHasCapability(t *testing.T) {
	if _, err := sys.HasCapability(64); err == nil {
		t.Error("capability 64 is one")
	}
	has, err := sys.HasCapability(unix.CAP_SYS_ADMIN)
	if err != nil {
		t.Fatal(err)
	}
	ns, err := sys.NewNetNS()
	if err == nil {
		ns.Close()
	}
	if has != (err == nil) {
		t.Errorf("CAP_SYS_ADMIN %v, but making a network namespace: %v", has, err)
	}
}

func TestSetGRO(t *testing.T) {
	a, _ := labtest.Pair(t)
	err := a.Do(func() error {
		for _, on := range []bool{false, true} {
			if err := sys.SetGRO("lo", on); err != nil {
				return err
			}
		}
		if err := sys.SetGRO("nothing", true); !errors.Is(err, unix.ENODEV) {
			t.Errorf("no such interface: %v", err)
		}
		if err := sys.SetGRO("a-name-that-is-too-long", true); err == nil {
			t.Error("a name of 23 bytes is taken")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
