package counters

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/netlab"
	"netdelta/internal/sys"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m, nil)) }

// What is switched by hand shows, and loopback and what is down do not.
func TestDevices(t *testing.T) {
	labtest.Need(t, feature.NetNS, feature.Veth)
	lab, err := netlab.New()
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	told := func() (facts []Fact) {
		if err := lab.A.NS.Do(func() error { facts = Devices(); return nil }); err != nil {
			t.Fatal(err)
		}
		return facts
	}
	if facts := told(); len(facts) != 0 {
		t.Errorf("a host without a link has devices: %v", facts)
	}
	if _, err := lab.Connect(t.Context(), netlab.LinkConfig{Kind: netlab.Veth, Context: "backlog", MTU: 1400, WireCPU: sys.NoCPU}); err != nil {
		t.Fatal(err)
	}
	facts := told()
	if len(facts) < 2 || facts[0] != (Fact{Name: "device " + lab.A.Device, Value: "veth, mtu 1400"}) || facts[1].Name != lab.A.Device+" offloads" {
		t.Fatalf("got %v", facts)
	}
	for _, want := range []Fact{{Name: "kind", Value: "veth"}, {Name: "queue length", Value: "1000"}, {Name: "speed", Value: "10000 Mbit/s full duplex"}} {
		if got := get(facts, lab.A.Device+" "+want.Name); got != want.Value {
			t.Errorf("%s: %q, want %q", want.Name, got, want.Value)
		}
	}
	// The mount of sysfs is of another namespace, and has nothing to say of it.
	for _, name := range []string{"rps", "irq cpus", "napi"} {
		if got := get(facts, lab.A.Device+" "+name); got != "" {
			t.Errorf("%s: %q from another namespace's sysfs", name, got)
		}
	}
	if again := told(); !slices.Equal(again, facts) {
		t.Errorf("the same device told twice: %v, %v", facts, again)
	}
	has := func(offload string) bool { return slices.Contains(strings.Fields(told()[1].Value), offload) }
	if has("gro") {
		t.Errorf("with GRO off: %q", told())
	}
	if err := lab.A.NS.Do(func() error { return sys.SetGRO(lab.A.Device, true) }); err != nil {
		t.Fatal(err)
	}
	if !has("gro") {
		t.Errorf("with GRO on: %q", told())
	}
}

// A host of many containers has more interfaces than are told of; its own are
// not left out for theirs.
func TestToldDevices(t *testing.T) {
	var all []net.Interface
	addrs := map[string][]string{"lo": {"127.0.0.1/8"}, "down0": {"192.0.2.1/24"}, "bare0": nil}
	for name := range addrs {
		all = append(all, net.Interface{Name: name, Flags: net.FlagUp})
	}
	all[slices.IndexFunc(all, func(d net.Interface) bool { return d.Name == "lo" })].Flags |= net.FlagLoopback
	all[slices.IndexFunc(all, func(d net.Interface) bool { return d.Name == "down0" })].Flags = 0
	for i := range 2 * maxDevices {
		name := fmt.Sprintf("veth%d", i)
		addrs[name] = []string{"fe80::1/64"}
		all = append(all, net.Interface{Name: name, Flags: net.FlagUp})
	}
	addrs["eth7"] = []string{"fe80::2/64", "2001:db8::1/64"}
	all = append(all, net.Interface{Name: "eth7", Flags: net.FlagUp})
	got := toTell(all, func(d *net.Interface) (list []net.Addr, err error) {
		for _, a := range addrs[d.Name] {
			ip, n, err := net.ParseCIDR(a)
			if err != nil {
				return nil, err
			}
			list = append(list, &net.IPNet{IP: ip, Mask: n.Mask})
		}
		return list, nil
	})
	var names []string
	for _, d := range got {
		names = append(names, d.Name)
	}
	if len(names) != maxDevices || names[0] != "eth7" || names[1] != "veth0" {
		t.Errorf("got %v", names)
	}
}
