package counters

import (
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func get(facts []Fact, name string) string {
	for _, f := range facts {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

func TestEnvironmentOfAGuest(t *testing.T) {
	root := write(t, map[string]string{
		"proc/sys/kernel/osrelease":   "6.12.1-test\n",
		"proc/sys/kernel/version":     "#1 SMP PREEMPT_DYNAMIC Mon Jan 1 00:00:00 UTC 2026\n",
		"proc/cpuinfo":                "processor\t: 0\nmodel name\t: Some CPU @ 3.0GHz\nflags\t\t: fpu vme hypervisor sse\n",
		"proc/meminfo":                "MemTotal:       24675432 kB\nMemFree: 1 kB\n",
		"sys/class/dmi/id/sys_vendor": "QEMU\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":            "performance\n",
		"sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
	})
	facts := environment(root)
	want := map[string]string{
		"kernel": "6.12.1-test", "cpu": "Some CPU @ 3.0GHz", "hypervisor": "QEMU", "memory": "24097 MiB",
		"governor": "performance", "clock source": "tsc", "preemption": "PREEMPT_DYNAMIC", "go": runtime.Version(),
	}
	for name, value := range want {
		if diff := cmp.Diff(value, get(facts, name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestUnknownFactsAreLeftOut(t *testing.T) {
	for _, f := range environment(t.TempDir()) {
		if f.Value == "" {
			t.Errorf("fact %s has no value and is listed all the same", f.Name)
		}
		if f.Name == "kernel" || f.Name == "hypervisor" {
			t.Errorf("fact %s is listed (%q) though nothing could be read", f.Name, f.Value)
		}
	}
}

func TestBareMetalHasNoHypervisor(t *testing.T) {
	root := write(t, map[string]string{"proc/cpuinfo": "flags\t\t: fpu vme sse\n", "sys/class/dmi/id/sys_vendor": "Vendor\n"})
	if v := get(environment(root), "hypervisor"); v != "" {
		t.Errorf("hypervisor = %q, want none", v)
	}
}

func FuzzFindField(f *testing.F) {
	f.Add("model name\t: x\n", "model name")
	f.Add("a:b:c", "a")
	f.Fuzz(func(t *testing.T, text, key string) {
		v, ok := findField(strings.NewReader(text), key)
		if ok && !strings.Contains(text, v) {
			t.Errorf("value %q is not in the text", v)
		}
	})
}
