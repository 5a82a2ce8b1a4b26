package counters

// facts is the table of what Environment reports, in its order.
var facts = []fact{
	{"system", system},
	{"kernel", text("kern.osrelease")},
	{"cpu", text("hw.model")},
	{"cpus", cpus},
	{"hypervisor", hypervisor},
	{"memory", sizeText("hw.physmem")},
	{"clock source", text("kern.timecounter.hardware")},
	{"tcp congestion", text("net.inet.tcp.cc.algorithm")},
	{"go", goVersion},
}

// hypervisor names who runs this machine if it is virtual.
func hypervisor(root string) string {
	if v := text("kern.vm_guest")(root); v != "none" {
		return v
	}
	return ""
}
