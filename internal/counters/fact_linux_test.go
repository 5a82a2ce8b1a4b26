package counters

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/netlab"
	"netdelta/internal/result"
)

// server is a machine of two sockets, as its files tell of it.
func server(t *testing.T) string {
	t.Helper()
	files := map[string]string{
		"proc/sys/kernel/osrelease":                                     "6.8.0-45-generic\n",
		"proc/sys/kernel/version":                                       "#45-Ubuntu SMP PREEMPT_DYNAMIC Fri Aug 30\n",
		"proc/sys/kernel/random/boot_id":                                "0e2c5d7e-0000-4000-8000-000000000001\n",
		"proc/sys/kernel/numa_balancing":                                "1\n",
		"proc/sys/kernel/sched_rt_runtime_us":                           "950000\n",
		"proc/cmdline":                                                  "root=/dev/sda1 mitigations=off isolcpus=2,3 quiet intel_idle.max_cstate=1 password=x\n",
		"proc/cpuinfo":                                                  "model name\t: Xeon\nflags\t\t: fpu\n",
		"proc/meminfo":                                                  "MemTotal:  1048576 kB\nSwapTotal: 2097152 kB\nSwapFree: 2097100 kB\n",
		"proc/self/cgroup":                                              "0::/bench.slice/agent.service\n",
		"proc/77/comm":                                                  "irqbalance\n",
		"proc/thread-self/net/ip_tables_names":                          "nat\nfilter\n",
		"proc/sys/net/netfilter/nf_conntrack_count":                     "12\n",
		"proc/sys/net/core/rmem_max":                                    "212992\n",
		"proc/sys/net/ipv4/tcp_rmem":                                    "4096\t131072\t6291456\n",
		"sys/fs/cgroup/bench.slice/cpu.max":                             "150000 100000\n",
		"sys/fs/cgroup/bench.slice/agent.service/cpu.max":               "max 100000\n",
		"sys/fs/cgroup/bench.slice/agent.service/cpuset.cpus.effective": "0-1\n",
		"sys/devices/system/cpu/online":                                 "0-3\n",
		"sys/devices/system/cpu/isolated":                               "2-3\n",
		"sys/devices/system/cpu/nohz_full":                              "(null)\n",
		"sys/devices/system/cpu/intel_pstate/no_turbo":                  "0\n",
		"sys/devices/system/cpu/cpuidle/current_driver":                 "intel_idle\n",
		"sys/devices/system/cpu/cpuidle/current_governor":               "menu\n",
		"sys/devices/system/cpu/vulnerabilities/l1tf":                   "Not affected\n",
		"sys/devices/system/cpu/vulnerabilities/spectre_v1":             "Mitigation: usercopy/swapgs barriers\n",
		"sys/devices/system/cpu/vulnerabilities/meltdown":               "Vulnerable\n",
		"sys/devices/system/node/node0/cpulist":                         "0-1\n",
		"sys/devices/system/node/node1/cpulist":                         "2-3\n",
		"sys/kernel/mm/transparent_hugepage/enabled":                    "always [madvise] never\n",
		"sys/kernel/security/lsm":                                       "lockdown,capability,apparmor\n",
	}
	for cpu := range 4 {
		dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/", cpu)
		governor := "performance"
		if cpu == 3 {
			governor = "powersave"
		}
		for name, text := range map[string]string{
			"topology/physical_package_id": fmt.Sprint(cpu / 2), "topology/core_id": "0",
			"cpufreq/scaling_governor": governor, "cpufreq/scaling_driver": "intel_pstate",
			"cpufreq/scaling_min_freq": "800000", "cpufreq/scaling_max_freq": "3500000",
			"cpuidle/state0/name": "POLL", "cpuidle/state0/latency": "0", "cpuidle/state0/disable": "0",
			"cpuidle/state1/name": "C1", "cpuidle/state1/latency": "2", "cpuidle/state1/disable": "0",
			"cpuidle/state2/name": "C6", "cpuidle/state2/latency": "133", "cpuidle/state2/disable": fmt.Sprint(cpu % 2),
		} {
			files[dir+name] = text + "\n"
		}
	}
	root := write(t, files)
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	fmt.Fprint(w, "CONFIG_SMP=y\n# CONFIG_KASAN is not set\nCONFIG_PROVE_LOCKING=y\n")
	w.Close()
	if err := os.WriteFile(filepath.Join(root, "proc/config.gz"), z.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestEnvironmentOfAServer(t *testing.T) {
	all := environment(server(t))
	for name, want := range map[string]string{
		"kernel":                     "6.8.0-45-generic",
		"kernel options":             "mitigations=off isolcpus=2,3 intel_idle.max_cstate=1",
		"kernel debug":               "PROVE_LOCKING",
		"kernel security":            "lockdown,capability,apparmor",
		"cpu topology":               "sockets 2, cores 2, threads 4, SMT on",
		"cpus isolated":              "2-3",
		"cpus tickless":              "",
		"governor":                   "performance (0-2), powersave (3)",
		"frequency driver":           "intel_pstate",
		"frequency range":            "800 to 3500 MHz",
		"turbo":                      "on",
		"idle driver":                "intel_idle, governor menu",
		"idle states":                "C6, 133 us to wake (0,2), C1, 2 us to wake (1,3)",
		"mitigation spectre_v1":      "usercopy/swapgs barriers",
		"mitigation meltdown":        "Vulnerable",
		"mitigation l1tf":            "",
		"hypervisor":                 "",
		"numa nodes":                 "0: cpus 0-1; 1: cpus 2-3",
		"numa balancing":             "on",
		"huge pages":                 "madvise",
		"swap":                       "2048 MiB, in use",
		"control group cpu limit":    "1.5",
		"control group cpus":         "0-1",
		"irqbalance":                 "runs",
		"net.core.rmem_max":          "212992",
		"net.ipv4.tcp_rmem":          "4096 131072 6291456",
		"kernel.sched_rt_runtime_us": "950000",
		"connection tracking":        "in use",
		"iptables":                   "filter nat",
	} {
		if got := get(all, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if last := all[len(all)-1]; last.Name != result.FactBoot || len(last.Value) != 8 {
		t.Errorf("the last fact is %v, want the boot's", last)
	}
	names := map[string]bool{}
	for _, f := range all {
		if names[f.Name] {
			t.Errorf("fact %s is told twice", f.Name)
		}
		names[f.Name] = true
	}
}

// In version 1 of control groups each controller has a path of its own.
func TestControlGroupsOfVersionOne(t *testing.T) {
	root := write(t, map[string]string{
		"proc/self/cgroup":                             "5:cpuset:/a\n4:cpu,cpuacct:/a/b\n0::/\n",
		"sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us":       "-1\n",
		"sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us":      "100000\n",
		"sys/fs/cgroup/cpu/a/cpu.cfs_quota_us":         "200000\n",
		"sys/fs/cgroup/cpu/a/cpu.cfs_period_us":        "100000\n",
		"sys/fs/cgroup/cpuset/a/cpuset.effective_cpus": "1\n",
	})
	all := groupFacts(root)
	if get(all, "control group cpu limit") != "2" || get(all, "control group cpus") != "1" {
		t.Errorf("got %v", all)
	}
}

// A group's files that can't be seen say nothing, and that a group has all CPUs
// is told.
func TestControlGroupsSeenAndUnseen(t *testing.T) {
	unseen := write(t, map[string]string{"proc/self/cgroup": "5:cpuset:/\n4:cpu,cpuacct:/a\n", "sys/devices/system/cpu/online": "0-1\n"})
	if all := groupFacts(unseen); len(all) != 0 {
		t.Errorf("of files that are not there: %v", all)
	}
	seen := write(t, map[string]string{"proc/self/cgroup": "0::/a\n", "sys/devices/system/cpu/online": "0-1\n",
		"sys/fs/cgroup/a/cpu.max": "max 100000\n", "sys/fs/cgroup/cpuset.cpus.effective": "0-1\n"})
	if all := groupFacts(seen); len(all) != 1 || get(all, "control group cpus") != "0-1" {
		t.Errorf("without a limit: %v", all)
	}
}

// What the machine does is no fact of it.
func TestEnvironmentHolds(t *testing.T) {
	a, b := Environment(), Environment()
	if !slices.Equal(a, b) {
		t.Errorf("two calls differ:\n%v\n%v", a, b)
	}
	for _, f := range a {
		if len(f.Value) > maxValue || strings.ContainsAny(f.Value, "\n\t") {
			t.Errorf("%s has the value %q", f.Name, f.Value)
		}
	}
}

// An interface that sysfs has no other one for is told with its queues.
func TestQueueFacts(t *testing.T) {
	root := write(t, map[string]string{
		"sys/devices/pci/0/msi_irqs/31":               "msi\n",
		"sys/devices/pci/0/msi_irqs/4":                "msi\n",
		"sys/devices/pci/0/virtio1/numa_node":         "-1\n",
		"proc/irq/31/smp_affinity_list":               "3\n",
		"proc/irq/4/smp_affinity_list":                "0-1\n",
		"sys/class/net/eth0/queues/rx-0/rps_cpus":     "00000000,00000000\n",
		"sys/class/net/eth0/queues/rx-1/rps_cpus":     "00000000,0000000f\n",
		"sys/class/net/eth0/queues/rx-0/rps_flow_cnt": "0\n",
		"sys/class/net/eth0/queues/tx-0/xps_cpus":     "3\n",
		"sys/class/net/eth0/queues/tx-10/xps_cpus":    "3\n",
		"sys/class/net/eth0/threaded":                 "1\n",
		"sys/class/net/eth0/napi_defer_hard_irqs":     "2\n",
		"sys/class/net/eth0/gro_flush_timeout":        "0\n",
	})
	if err := os.Symlink(filepath.Join(root, "sys/devices/pci/0/virtio1"), filepath.Join(root, "sys/class/net/eth0/device")); err != nil {
		t.Fatal(err)
	}
	all := sysfsFacts(root, filepath.Join(root, "sys/class/net/eth0"))
	for name, want := range map[string]string{
		"irq cpus": "0-1 3", "rps": "off 00000000,0000000f", "rps flows": "off", "xps": "3 on all 2", "napi": "threaded, napi_defer_hard_irqs 2", "numa node": "",
	} {
		if got := get(all, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestRuns(t *testing.T) {
	for want, numbers := range map[string][]int{"": nil, "5": {5}, "0-3,8": {0, 1, 2, 3, 8}, "1,3,5-6": {1, 3, 5, 6}} {
		if got := runs(numbers); got != want {
			t.Errorf("%v: %q, want %q", numbers, got, want)
		}
	}
}

// Whatever stands in the kernel's files, nothing panics.
func TestAnyFiles(t *testing.T) {
	root := server(t)
	var names []string
	err := filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		name := rapid.SampledFrom(names).Draw(r, "file")
		was, err := os.ReadFile(name)
		if err != nil {
			r.Fatal(err)
		}
		defer os.WriteFile(name, was, 0o644)
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "[", "-1", "0::", "1 0", "999999999999999999999", "::::"})).Draw(r, "text")
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			r.Fatal(err)
		}
		for _, f := range environment(root) {
			if f.Value == "" || len(f.Value) > maxValue {
				r.Fatalf("%+v", f)
			}
		}
	})
}

// A look has the default sources but a test's, of the thread's namespace.
func TestLook(t *testing.T) {
	labtest.Need(t, feature.NetNS, feature.Veth)
	lab, err := netlab.New()
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	var c *result.Counters
	if err := lab.A.NS.Do(func() (err error) {
		c, err = Look(t.Context(), Options{}, 20*time.Millisecond)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	r := c.Reading(result.SourceCPU)
	if r == nil || r.Elapsed < 20*time.Millisecond || len(c.CPUs) == 0 {
		t.Fatalf("got %+v", c)
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	for _, source := range ofTests {
		if asked, _ := c.Asked(source); asked {
			t.Errorf("source %s is read without a test", source)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Look(gone, Options{}, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
