//go:build linux

package feature

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestUserNSHint(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		sysctl map[string]string
		need   string
	}{
		{"not built in", unix.EINVAL, nil, "CONFIG_USER_NS"},
		{"Debian's switch", unix.EPERM, map[string]string{"kernel.unprivileged_userns_clone": "0"}, "kernel.unprivileged_userns_clone=1"},
		{"switched off", unix.ENOSPC, map[string]string{"user.max_user_namespaces": "0"}, "user.max_user_namespaces"},
		{"used up", unix.ENOSPC, map[string]string{"user.max_user_namespaces": "10"}, "room"},
		{"AppArmor", unix.EPERM, map[string]string{"kernel.apparmor_restrict_unprivileged_userns": "1"}, "AppArmor"},
		{"unknown", unix.EPERM, map[string]string{"kernel.apparmor_restrict_unprivileged_userns": "0", "kernel.unprivileged_userns_clone": "1"}, "seccomp"},
	} {
		need, advice := userNSHint(fmt.Errorf("clone: %w", c.err), func(name string) string { return c.sysctl[name] })
		if !strings.Contains(need, c.need) {
			t.Errorf("%s: needs %q; %q", c.name, need, advice)
		}
		if advice == "" {
			t.Errorf("%s: no advice", c.name)
		}
		// Nobody knows here whether this is a container.
		if all := need + "; " + advice; strings.Contains(all, "container") && !strings.Contains(all, "if this is a container") {
			t.Errorf("%s: takes this for a container: %s", c.name, all)
		}
	}
}

func TestTunDeviceError(t *testing.T) {
	describe := func() string { return " (its mode is 0600)" }
	if e := tunDeviceError(nil, describe); e != nil {
		t.Errorf("no error gives %v", e)
	}
	if e := tunDeviceError(unix.ENOENT, describe); !strings.Contains(e.Advice, "modprobe tun") {
		t.Errorf("no device: %v", e)
	}
	if e := tunDeviceError(unix.EACCES, describe); !strings.Contains(e.Error(), "its mode is 0600") || !strings.Contains(e.Advice, "veth") {
		t.Errorf("no permission: %v", e)
	}
}

func TestVirtualSize(t *testing.T) {
	for _, c := range []struct {
		status string
		want   uint64
	}{
		{"Name:\tx\nVmSize:\t    1024 kB\nVmLck:\t0 kB\n", 1 << 20},
		{"Name:\tx\n", ^uint64(0)},
		{"VmSize:\t1024 MB\n", ^uint64(0)},
		{"VmSize:\t-1 kB\n", ^uint64(0)},
		{"VmSize:\t99999999999999999999 kB\n", ^uint64(0)},
	} {
		if got := virtualSize(c.status); got != c.want {
			t.Errorf("%q: %d, want %d", c.status, got, c.want)
		}
	}
	own, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	if size := virtualSize(string(own)); size < 1<<20 || size == ^uint64(0) {
		t.Errorf("this process has %d bytes of address space", size)
	}
}

func FuzzVirtualSize(f *testing.F) {
	for _, s := range []string{"VmSize:\t  1024 kB\n", "Name:\tx\nVmSize:\t-1 kB", "VmSize: 18014398509481984 kB\n", "VmSize:\nVmSize: 1 kB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, status string) {
		size := virtualSize(status)
		if size == ^uint64(0) {
			return
		}
		// What is found is whole KiB and stands there.
		if size%1024 != 0 || !strings.Contains(status, "VmSize:") || !strings.Contains(status, fmt.Sprint(size/1024)) {
			t.Errorf("%q has %d bytes", status, size)
		}
	})
}

func FuzzMapsEveryone(f *testing.F) {
	for _, s := range []string{"         0          0 4294967295\n", "0 0 4294967295 0", "0 1000 1", "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := mapsEveryone(text), strings.Join(strings.Fields(text), " ") == "0 0 4294967295"; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	})
}

func FuzzNetlinkAck(f *testing.F) {
	f.Add([]byte{})
	f.Add(make([]byte, 20))
	f.Add([]byte{20, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{20, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80})
	f.Fuzz(func(t *testing.T, answer []byte) {
		err := netlinkAck(answer)
		if err == nil && (len(answer) < 20 || binary.NativeEndian.Uint32(answer[16:]) != 0) {
			t.Errorf("% x is taken for an acknowledgement", answer)
		}
		if err != nil && (err == unix.Errno(0) || err.Error() == "") {
			t.Errorf("% x gives an error that says nothing", answer)
		}
	})
}

func TestMapsEveryone(t *testing.T) {
	for text, want := range map[string]bool{
		"         0          0 4294967295\n": true,
		"         0       1000          1\n": false,
		"0 0 1\n":                            false,
		"":                                   false,
	} {
		if mapsEveryone(text) != want {
			t.Errorf("%q: want %v", text, want)
		}
	}
}

// TestNetlinkAck guards against answers that are too short or of another kind.
func TestNetlinkAck(t *testing.T) {
	ack := func(code int32) []byte {
		b := make([]byte, unix.SizeofNlMsghdr+4)
		binary.NativeEndian.PutUint16(b[4:], unix.NLMSG_ERROR)
		binary.NativeEndian.PutUint32(b[unix.SizeofNlMsghdr:], uint32(code))
		return b
	}
	if err := netlinkAck(ack(0)); err != nil {
		t.Error(err)
	}
	if unix.EPERM != netlinkAck(ack(-int32(unix.EPERM))) {
		t.Errorf("got %v", netlinkAck(ack(-1)))
	}
	for _, bad := range [][]byte{nil, make([]byte, 10), make([]byte, 20)} {
		if netlinkAck(bad) == nil {
			t.Errorf("%d bytes taken for an acknowledgement", len(bad))
		}
	}
}
