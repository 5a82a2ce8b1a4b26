package counters

import "golang.org/x/sys/unix"

// facts is the table of what Environment reports, in its order.
var facts = []fact{
	{"system", system},
	{"kernel", text("kern.osrelease")},
	{"release", text("kern.osproductversion")},
	{"cpu", text("machdep.cpu.brand_string")},
	{"cpus", cpus},
	{"hypervisor", hypervisor},
	{"memory", sizeText("hw.memsize")},
	{"go", goVersion},
}

// hypervisor says whether this machine is virtual; by whom is not told.
func hypervisor(string) string {
	if n, err := unix.SysctlUint32("kern.hv_vmm_present"); err != nil || n == 0 {
		return ""
	}
	return "yes (unnamed)"
}
