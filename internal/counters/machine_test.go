package counters

import (
	"slices"
	"testing"
)

func TestMachineCPUs(t *testing.T) {
	for _, c := range []struct {
		stat string
		want []int
	}{
		{"cpu  1 2 3\ncpu0 1 2 3\ncpu1 1 2 3\nintr 5\n", []int{0, 1}},
		{"cpu  1 2 3\ncpu10 1\ncpu2 1\ncpu2 1\ncpux 1\n", []int{2, 10}}, // 0, 1 and 3 are offline
	} {
		root := write(t, map[string]string{"proc/stat": c.stat})
		if got := machineCPUs(root); !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, want %v", c.stat, got, c.want)
		}
	}
	if got := machineCPUs(t.TempDir()); len(got) == 0 {
		t.Error("where the system does not tell there are those that this process may use")
	}
}
