package result

import "testing"

func TestDetailFact(t *testing.T) {
	for name, want := range map[string]bool{
		"kernel": false, "cpu": false, "local kernel": false, "governor": false, "turbo": false, "kernel debug": false, "control group cpu limit": false,
		"device eth0": false, "eth0 offloads": false, "eth0 speed": false, "host": false, "wire cpu": false, "": false, "remote": false,
		"net.core.rmem_max": true, "kernel.sched_rt_runtime_us": true, "remote net.core.rmem_max": true, "mitigation spectre_v2": true,
		"eth0 rings": true, "local eth0 irq cpus": true, "boot": true, "remote boot": true, "cpu topology": true,
	} {
		if got := DetailFact(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}
