package counters

import (
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
