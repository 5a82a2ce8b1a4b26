package counters

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// bootOptions are the switches of the kernel's command line that bear on
// figures (Documentation/admin-guide/kernel-parameters.txt).
var bootOptions = []string{
	"mitigations", "pti", "nopti", "nospectre_v1", "nospectre_v2", "spectre_v2", "spec_store_bypass_disable", "retbleed", "nosmt",
	"isolcpus", "nohz_full", "nohz", "rcu_nocbs", "rcu_nocb_poll", "irqaffinity", "skew_tick", "threadirqs", "preempt", "idle",
	"intel_idle.max_cstate", "processor.max_cstate", "cpuidle.off", "cpufreq.off", "intel_pstate", "amd_pstate", "cpufreq.default_governor",
	"tsc", "clocksource", "hpet", "iommu", "intel_iommu", "amd_iommu", "iommu.passthrough", "iommu.strict", "transparent_hugepage", "numa_balancing",
	"slub_debug", "slab_debug", "page_poison", "debug_pagealloc", "init_on_alloc", "init_on_free", "kasan", "kfence.sample_interval",
	"nosoftlockup", "nowatchdog", "nmi_watchdog", "audit", "selinux", "apparmor", "psi",
}

// debugOptions are what a kernel can be built with that slows it down.
var debugOptions = []string{
	"KASAN", "KCSAN", "KMSAN", "UBSAN", "LOCKDEP", "PROVE_LOCKING", "LOCK_STAT", "DEBUG_PAGEALLOC_ENABLE_DEFAULT", "DEBUG_OBJECTS", "DEBUG_KMEMLEAK",
	"DEBUG_ATOMIC_SLEEP", "DEBUG_PREEMPT", "PREEMPT_TRACER", "IRQSOFF_TRACER", "SLUB_DEBUG_ON", "PAGE_POISONING", "DEBUG_NET", "DEBUG_VM", "KCOV", "GCOV_KERNEL",
}

// kernelFacts are how the kernel was built and started.
func kernelFacts(root string) []Fact {
	var options []string
	for _, word := range strings.Fields(line(root, "proc/cmdline")) {
		if key, _, _ := strings.Cut(word, "="); slices.Contains(bootOptions, key) {
			options = append(options, word)
		}
	}
	return valued(
		Fact{Name: "kernel build", Value: line(root, "proc/sys/kernel/version")},
		Fact{Name: "kernel options", Value: strings.Join(options, " ")},
		Fact{Name: "kernel debug", Value: debugBuild(root)},
		Fact{Name: "kernel security", Value: line(root, "sys/kernel/security/lsm")},
	)
}

// debugBuild names the debug options that the running kernel was built with;
// "none" if it says how it was built and there are none, and nothing if not.
func debugBuild(root string) string {
	text := buildOptions(root)
	if len(text) == 0 {
		return ""
	}
	var on []string
	for option := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(option), "=")
		if name, ok := strings.CutPrefix(name, "CONFIG_"); ok && value == "y" && slices.Contains(debugOptions, name) {
			on = append(on, name)
		}
	}
	if len(on) == 0 {
		return "none"
	}
	return strings.Join(on, " ")
}

// maxBuildOptions bounds what is read of them; they have some 200 kB.
const maxBuildOptions = 4 << 20

// buildOptions are those of the running kernel, empty if they can't be had.
func buildOptions(root string) string {
	if f, err := os.Open(filepath.Join(root, "proc/config.gz")); err == nil {
		defer f.Close()
		if z, err := gzip.NewReader(f); err == nil {
			if text, err := io.ReadAll(io.LimitReader(z, maxBuildOptions)); err == nil {
				return string(text)
			}
		}
	}
	release := kernel(root)
	if release == "" || strings.ContainsRune(release, filepath.Separator) {
		return ""
	}
	f, err := os.Open(filepath.Join(root, "boot", "config-"+release))
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxBuildOptions))
	if err != nil {
		return ""
	}
	return string(text)
}

// bootFacts tell one boot from another, by a short hash of its id.
func bootFacts(root string) []Fact {
	id := line(root, "proc/sys/kernel/random/boot_id")
	if id == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(id))
	return []Fact{{Name: "boot", Value: hex.EncodeToString(sum[:4])}}
}
