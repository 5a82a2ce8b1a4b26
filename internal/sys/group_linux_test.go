package sys

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestGroupMounts(t *testing.T) {
	const info = `31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 master:3 - cgroup2 cgroup2 rw
42 31 0:38 /a\040b /mnt/x\134y rw - cgroup2 none rw
43 31 - cgroup2
`
	got := groupMounts(info)
	want := []groupMount{{"/", "/sys/fs/cgroup/unified"}, {"/a b", `/mnt/x\y`}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestOwnPath(t *testing.T) {
	for _, c := range []struct {
		text, own string
		ok        bool
	}{
		{"9:name=systemd:/\n4:memory:/x\n0::/\n", "/", true},
		{"0::/user.slice/session-1.scope\n", "/user.slice/session-1.scope", true},
		{"0::/../other\n", "", false},
		{"0::/gone (deleted)\n", "", false},
		{"4:memory:/x\n", "", false},
		{"", "", false},
	} {
		if own, ok := ownPath(c.text); ok != c.ok || ok && own != c.own {
			t.Errorf("%q: %q, %v", c.text, own, ok)
		}
	}
}

func TestFindGroup(t *testing.T) {
	whole, part := groupMount{"/", "/sys/fs/cgroup"}, groupMount{"/docker/x", "/cg"}
	for _, c := range []struct {
		m     groupMount
		own   string
		dir   string
		level int
		ok    bool
	}{
		{whole, "/", "/sys/fs/cgroup", 0, true},
		{whole, "/a/b", "/sys/fs/cgroup/a/b", 2, true},
		{part, "/docker/x", "/cg", 2, true},
		{part, "/docker/x/y", "/cg/y", 3, true},
		{part, "/docker/xy", "", 0, false},
		{part, "/", "", 0, false},
	} {
		g, ok := c.m.find(c.own)
		if ok != c.ok || g.Dir != c.dir || g.Level != c.level {
			t.Errorf("%s in %+v: %+v, %v", c.own, c.m, g, ok)
		}
		if !ok {
			continue
		}
		below := g.Below("z")
		if up, ok := below.Parent(); !ok || up != g {
			t.Errorf("above %+v: %+v, %v", below, up, ok)
		}
		if up, ok := g.Parent(); ok != (g.Dir != c.m.point) {
			t.Errorf("above %+v: %+v, %v", g, up, ok)
		}
	}
}

func FuzzOwnGroup(f *testing.F) {
	f.Add("41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/a/b\n")
	f.Add("1 2 3 /a /b - cgroup2", "0::/a")
	f.Add(" - cgroup2", "0::/..")
	f.Fuzz(func(t *testing.T, mounts, groups string) {
		own, ok := ownPath(groups)
		if !ok {
			return
		}
		if !strings.HasPrefix(own, "/") || strings.HasPrefix(own, "/..") && (own == "/.." || own[3] == '/') {
			t.Errorf("%q: group %q", groups, own)
		}
		for _, m := range groupMounts(mounts) {
			if g, ok := m.find(own); ok && (g.Level < 0 || g.Dir == "") {
				t.Errorf("%q in %+v: %+v", own, m, g)
			}
		}
	})
}

// TestStartIn has a process started in a new group, if this user may make one.
func TestStartIn(t *testing.T) {
	own, err := OwnGroup()
	if err != nil {
		t.Skip(err)
	}
	g := own.Below("netdelta-test")
	if err := os.Mkdir(g.Dir, 0o755); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := unix.Rmdir(g.Dir); err != nil {
			t.Error(err)
		}
	})
	if id, err := g.ID(); err != nil || id == 0 {
		t.Errorf("number %d, %v", id, err)
	}
	dir, err := os.Open(g.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if err := TryStartIn(dir); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command("cat", "/proc/self/cgroup")
	if err := StartIn(cmd, dir); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), filepath.Base(g.Dir)+"\n") {
		t.Errorf("the child is in %q, %v", out, err)
	}
	cmd = exec.Command("cat", "/proc/self/cgroup")
	if err := StartIn(cmd, nil); err != nil || cmd.SysProcAttr != nil {
		t.Errorf("no group: %v, %+v", err, cmd.SysProcAttr)
	}
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := TryStartIn(file); err == nil || errors.Is(err, unix.ENOTDIR) {
		t.Errorf("a file that is no group: %v", err)
	}
}
