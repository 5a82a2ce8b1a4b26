package counters

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSharesByGroup(t *testing.T) {
	const autogroup, cgroup = "proc/sys/kernel/sched_autogroup_enabled", "proc/self/cgroup"
	for name, c := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"nothing":             {},
		"sessions":            {map[string]string{autogroup: "1\n"}, true},
		"no sessions":         {map[string]string{autogroup: "0\n", cgroup: "1:cpu:/\n0::/\n"}, false},
		"version 1":           {map[string]string{autogroup: "0\n", cgroup: "2:cpu,cpuacct:/a\n"}, true},
		"another controller":  {map[string]string{cgroup: "2:cpuacct:/a\n3:cpuset:/b\n"}, false},
		"version 2":           {map[string]string{cgroup: "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.weight": "100\n"}, true},
		"version 2, no share": {map[string]string{cgroup: "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n"}, false},
		"a container":         {map[string]string{cgroup: "0::/\n", "sys/fs/cgroup/cpu.weight": "100\n"}, true},
		"not understood":      {map[string]string{cgroup: "\nx\n:\n"}, false},
	} {
		root := t.TempDir()
		for file, text := range c.files {
			path := filepath.Join(root, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := sharesByGroup(root); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
