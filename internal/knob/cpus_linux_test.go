package knob

import (
	"strings"
	"testing"

	"netdelta/internal/spec"
)

func TestCPUMasks(t *testing.T) {
	for _, c := range []struct{ list, canonical, mask string }{
		{"none", "none", "0"},
		{"0,1", "0-1", "3"},
		{"3,0-1", "0-1,3", "b"},
		{"31", "31", "80000000"},
		{"32", "32", "1,00000000"},
		{"0,33-35,100", "0,33-35,100", "10,00000000,0000000e,00000001"},
	} {
		cpus, err := spec.ParseCPUs(c.list)
		if err != nil {
			t.Fatal(err)
		}
		mask, err := cpuMask(cpus)
		if err != nil || mask != c.mask {
			t.Errorf("%s is the mask %s, %v, want %s", c.list, mask, err, c.mask)
		}
		back, err := cpusOfMask("00000000," + c.mask)
		if err != nil || cpuList(back) != c.canonical {
			t.Errorf("%s is %s, %v, want %s", c.mask, cpuList(back), err, c.canonical)
		}
	}
	for _, bad := range []string{"", "x", "1,", "123456789", "-1", strings.Repeat("0,", 3000) + "0"} {
		if cpus, err := cpusOfMask(bad); err == nil {
			t.Errorf("%.20q is the CPUs %v", bad, cpus)
		}
	}
	if mask, err := cpuMask([]int{maxMaskCPU}); err == nil {
		t.Errorf("a CPU out of range is %.20q", mask)
	}
	if err := checkOnline([]int{0, 2}, "0-1\n"); err == nil || !strings.Contains(err.Error(), "CPU 2 is not online: CPUs 0-1 are") {
		t.Errorf("an offline CPU: %v", err)
	}
}

func TestParts(t *testing.T) {
	names := []string{"rx-0", "rx-1", "rx-10", "rx-2"}
	parts, err := splitParts("0-1", names)
	if err != nil || joinParts(parts) != "0-1" || len(parts) != 4 {
		t.Errorf("one value for all: %v, %v", parts, err)
	}
	const mixed = "rx-0:none rx-1:0-1 rx-2:5,7 rx-10:5,7"
	parts, err = splitParts(mixed, names)
	sortParts(parts)
	if err != nil || joinParts(parts) != mixed {
		t.Errorf("%q became %q, %v", mixed, joinParts(parts), err)
	}
	if parts, err := splitParts("rx-0:1 rx-77:2", names); err != nil || len(parts) != 1 {
		t.Errorf("a queue that is no more: %v, %v", parts, err)
	}
	for _, bad := range []string{"", "  ", "a b", "rx-0: rx-1:2", ":1"} {
		if parts, err := splitParts(bad, names); err == nil {
			t.Errorf("%q is %v", bad, parts)
		}
	}
}
