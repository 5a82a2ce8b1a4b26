package result

import "strings"

// Facts of a host are many, and most of them matter only where they differ. A
// text shows the main ones of one machine, and what differs of all.
var (
	detailNames = map[string]bool{
		"kernel build": true, "kernel options": true, "kernel security": true, "cpu topology": true, "cpus isolated": true, "cpus tickless": true,
		"frequency driver": true, "frequency range": true, "energy preference": true, "idle driver": true, "idle states": true,
		"numa nodes": true, "numa balancing": true, "huge pages": true, "swap": true, "clock synchronised": true,
		"control group cpus": true, "user": true, "capabilities": true, "memory that can be locked": true, "exact idle time": true, "irqbalance": true,
		"connection tracking": true, "iptables": true, "ip6tables": true, "arptables": true, "nftables": true, FactBoot: true,
	}
	detailPrefixes = []string{"net.", "kernel.", "vm.", "mitigation "}
	// Of what is told of an interface, after its name.
	detailSuffixes = []string{
		" driver version", " firmware", " bus", " top speed", " features", " rings", " channels", " coalescing", " kind", " member of", " qdisc",
		" queue length", " xdp", " numa node", " irq cpus", " rps", " rps flows", " xps", " napi",
	}
)

// FactBoot is the fact that tells one boot of a machine from another. It
// changes nothing by itself.
const FactBoot = "boot"

// OneMachine says that both ends were on one machine, as their boots tell. Where
// an end did not tell its boot, it is not known, and false.
func OneMachine(environments []Environment) bool {
	local, remote := boots(environments)
	return local != "" && local == remote
}

// BootOf names the boot of the two ends' machines, which is another one as soon
// as either of them was booted again. It is empty where an end did not tell its
// boot.
func BootOf(environments []Environment) string {
	local, remote := boots(environments)
	if local == "" || remote == "" {
		return ""
	}
	return local + " " + remote
}

func boots(environments []Environment) (local, remote string) {
	of := map[string]string{}
	for _, e := range environments {
		for _, f := range e.Facts {
			if f.Name == FactBoot {
				of[e.End] = f.Value
			}
		}
	}
	return of[Local], of[Remote]
}

// DetailFact says that a fact of that name matters only where it differs. An
// end's name may stand before it.
func DetailFact(name string) bool {
	name = strings.TrimPrefix(strings.TrimPrefix(name, Local+" "), Remote+" ")
	if detailNames[name] {
		return true
	}
	for _, p := range detailPrefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	for _, s := range detailSuffixes {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	return false
}
