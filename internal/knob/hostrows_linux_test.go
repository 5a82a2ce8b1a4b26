package knob

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"netdelta/internal/feature"
	"netdelta/internal/spec"
)

// fakeHost is a tree with the files of the host's rows.
func fakeHost(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for path, text := range map[string]string{
		"/proc/sys/net/core/busy_poll":                                     "0",
		"/proc/sys/net/core/busy_read":                                     "50",
		"/proc/sys/net/core/rps_sock_flow_entries":                         "0",
		"/proc/sys/net/ipv4/tcp_congestion_control":                        "cubic",
		"/proc/sys/net/ipv4/tcp_available_congestion_control":              "reno cubic",
		"/proc/sys/net/ipv4/conf/eth0.100/forwarding":                      "0",
		"/proc/sys/net/ipv4/tcp_rmem":                                      "4096\t131072\t6291456",
		"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":            "powersave",
		"/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor":            "schedutil",
		"/sys/devices/system/cpu/cpu0/cpufreq/scaling_available_governors": "performance powersave schedutil",
		"/sys/devices/system/cpu/cpu1/cpufreq/scaling_available_governors": "performance powersave schedutil",
		"/sys/devices/system/cpu/cpu2/online":                              "0",
		"/sys/devices/system/cpu/cpufreq/other":                            "0",
	} {
		fakeFile(t, root, path, text)
	}
	return root
}

func TestHostRows(t *testing.T) {
	for _, c := range []struct{ knob, value, was, file, text string }{
		{"busy_poll", "70", "0 50", "proc/sys/net/core/busy_read", "70"},
		{"congestion", "reno", "cubic", "proc/sys/net/ipv4/tcp_congestion_control", "reno"},
		{"governor", "performance", "cpu0=powersave cpu1=schedutil", "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance"},
		{"sysctl.net.ipv4.tcp_rmem", "4096 65536 1000000", "4096 131072 6291456", "proc/sys/net/ipv4/tcp_rmem", "4096 65536 1000000"},
		{"rps_sock_flow_entries", "1024", "0", "proc/sys/net/core/rps_sock_flow_entries", "1024"},
	} {
		t.Run(c.knob, func(t *testing.T) {
			root, dir := fakeHost(t), newJournal(t)
			before := tree(t, root)
			h := newTestHolder(t, nil, dir)
			h.root = root
			changes, err := h.Set(t.Context(), local(setting(c.knob, c.value)))
			if err != nil || len(changes) != 1 || changes[0].Was != c.was || changes[0].Value != c.value {
				t.Fatalf("%+v, %v; want it changed from %s", changes, err, c.was)
			}
			text, err := os.ReadFile(filepath.Join(root, c.file))
			if err != nil || string(text) != c.text {
				t.Errorf("%s has %q, %v", c.file, text, err)
			}
			if err := h.Restore(t.Context()); err != nil {
				t.Fatal(err)
			}
			for path, was := range before {
				if now := tree(t, root)[path]; now != was {
					t.Errorf("%s has %q, it was %q", path, now, was)
				}
			}
		})
	}
}

// tree reads all files, as the rows do.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = normal(string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestSysctlNames(t *testing.T) {
	p := Place{root: fakeHost(t)}
	for name, file := range map[string]string{
		"net.ipv4.tcp_rmem":                 "net/ipv4/tcp_rmem",
		"net/ipv4/tcp_rmem":                 "net/ipv4/tcp_rmem",
		"net.ipv4.conf.eth0/100.forwarding": "net/ipv4/conf/eth0.100/forwarding",
		"net/ipv4/conf/eth0.100/forwarding": "net/ipv4/conf/eth0.100/forwarding",
	} {
		if c, err := sysctlAt(p, name); err != nil || c.file != file {
			t.Errorf("%s: %+v, %v; want %s", name, c, err, file)
		}
	}
	for _, bad := range []string{"", ".", "..", "net/../x", "/etc/passwd", "net..x", "net.ipv4.none"} {
		if c, err := sysctlAt(p, bad); err == nil {
			t.Errorf("%q is taken for %s", bad, c.file)
		}
	}
}

func TestMachineWideSysctlsHaveHostIDs(t *testing.T) {
	for file, want := range map[string]bool{
		"net/core/busy_poll": true, "net/core/somaxconn": false, "net/ipv4/tcp_rmem": false, "net/ipv4/tcp_mem": true,
		"kernel/numa_balancing": true, "vm/swappiness": true, "net/ipv4/conf/all/rp_filter": false,
	} {
		if got := machineWide(file); got != want {
			t.Errorf("%s: %v", file, got)
		}
	}
}

func TestFlowEntriesAreRoundedUp(t *testing.T) {
	for _, c := range []struct {
		read, asked string
		want        bool
	}{
		{"0", "0", true}, {"1024", "1000", true}, {"1024", "1024", true}, {"1", "1", true},
		{"1000", "1000", false}, {"0", "1000", false}, {"x", "x", true}, {"4294967296", "4294967295", true},
	} {
		if got := (flowEntries{}).Equal(c.read, c.asked); got != c.want {
			t.Errorf("%s for %s: %v", c.read, c.asked, got)
		}
	}
}

func TestUnavailableRows(t *testing.T) {
	root := t.TempDir()
	fakeFile(t, root, cpuRoot+"/cpu0/online", "1")
	for _, knob := range []string{"governor", "busy_poll", "congestion", "rps_sock_flow_entries", "sysctl.net.ipv4.tcp_rmem"} {
		c, err := open(Place{root: root}, spec.Setting{Knob: knob, Value: "1"})
		if !errors.Is(err, feature.ErrUnavailable) {
			t.Errorf("%s: %v, %v; want that it is unavailable", knob, c, err)
		}
	}
}

// TestTableHasAllOfAHost: the two tables name the same knobs.
func TestTableHasAllOfAHost(t *testing.T) {
	here := map[string]bool{}
	for _, k := range knobs {
		if here[k.name] || k.open == nil {
			t.Errorf("%s is there twice, or cannot be opened", k.name)
		}
		here[k.name] = true
	}
	for _, k := range spec.Knobs() {
		of := k.Scope == spec.OnDevice || k.Scope == spec.OnHost || k.Scope == spec.OnCommand
		if of != here[k.Name] {
			t.Errorf("%s: of a host in package spec %v, carried out here %v", k.Name, of, here[k.Name])
		}
		delete(here, k.Name)
	}
	for name := range here {
		t.Errorf("%s is no knob of package spec", name)
	}
}
