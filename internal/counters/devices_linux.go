package counters

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// maxDevices is how many interfaces are told of: a host of containers can have
// hundreds.
const maxDevices = 8

// offloads is the table of the switches that are told, in their order.
var offloads = []struct {
	name string
	flag sys.EthtoolFlag
}{
	{"rx-checksum", sys.RxChecksum},
	{"tx-checksum", sys.TxChecksum},
	{"sg", sys.SG},
	{"tso", sys.TSO},
	{"gso", sys.GSO},
	{"gro", sys.GRO},
}

// Devices tells of the interfaces of the thread's network namespace that are
// up and have an address, but for loopback: what each is, which of its offloads
// are on, and how else it is set. The name of a device's fact begins with the
// device's own, but for what it is: "device eth0".
func Devices() []Fact { return devices("/") }

func devices(root string) []Fact {
	all, err := net.Interfaces()
	if err != nil {
		return nil
	}
	var facts []Fact
	for _, d := range toTell(all, (*net.Interface).Addrs) {
		for _, f := range deviceFacts(root, d) {
			facts = append(facts, Fact{Name: f.Name, Value: short(f.Value)})
		}
	}
	return facts
}

// toTell are the interfaces that are told of. Those with an address of a network's
// come first: the host's ends of its containers' links have none but the link's.
func toTell(all []net.Interface, addrsOf func(*net.Interface) ([]net.Addr, error)) []net.Interface {
	var networks, links []net.Interface
	for _, d := range all {
		addrs, err := addrsOf(&d)
		switch {
		case err != nil || len(addrs) == 0 || d.Flags&net.FlagUp == 0 || d.Flags&net.FlagLoopback != 0:
		case slices.ContainsFunc(addrs, ofNetwork):
			networks = append(networks, d)
		default:
			links = append(links, d)
		}
	}
	all = append(networks, links...)
	return all[:min(len(all), maxDevices)]
}

// ofNetwork says that an address is not one of a single link's.
func ofNetwork(a net.Addr) bool {
	n, ok := a.(*net.IPNet)
	return ok && !n.IP.IsLinkLocalUnicast()
}

// deviceFacts are all that is told of one interface.
func deviceFacts(root string, d net.Interface) []Fact {
	is := fmt.Sprintf("mtu %d", d.MTU)
	if driver := driverOf(d.Name); driver != "" {
		is = driver + ", " + is
	}
	facts := []Fact{{Name: "device " + d.Name, Value: is}}
	if on, known := offloadsOn(d.Name); known {
		facts = append(facts, Fact{Name: d.Name + " offloads", Value: on})
	}
	for _, f := range slices.Concat(driverFacts(d.Name), linkFacts(d.Name), queueFacts(root, d)) {
		facts = append(facts, Fact{Name: d.Name + " " + f.Name, Value: f.Value})
	}
	return facts
}

// offloadsOn names the switches that are on. It is not known if the device has
// none of them.
func offloadsOn(name string) (text string, known bool) {
	var on []string
	for _, o := range offloads {
		is, err := sys.GetEthtoolFlag(name, o.flag)
		known = known || err == nil
		if err == nil && is {
			on = append(on, o.name)
		}
	}
	if len(on) == 0 {
		return "none", known
	}
	return strings.Join(on, " "), known
}

func driverOf(name string) string {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	info, err := unix.IoctlGetEthtoolDrvinfo(fd, name)
	if err != nil {
		return ""
	}
	return unix.ByteSliceToString(info.Driver[:])
}
