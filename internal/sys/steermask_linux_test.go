package sys

import "testing"

func TestMaskLike(t *testing.T) {
	for _, c := range []struct {
		text string
		cpu  int
		want string // empty: an error
	}{
		{"0", 0, "1"}, {"3", 1, "2"}, {"f", 3, "8"}, {"0", 4, ""}, {"0", NoCPU, "0"}, {"3", NoCPU, "0"},
		{"00", 4, "10"}, {"00", 7, "80"},
		{"00000000,00000000", 31, "00000000,80000000"}, {"00000000,00000000", 32, "00000001,00000000"},
		{"00000003,ffffffff", NoCPU, "00000000,00000000"}, {"3,ffffffff", 33, "2,00000000"}, {"3,ffffffff", 36, ""},
		{"", 0, ""}, {"1", -2, ""},
	} {
		got, err := maskLike(c.text, c.cpu)
		if (err == nil) != (c.want != "") || got != c.want {
			t.Errorf("CPU %d like %q: %q, %v, want %q", c.cpu, c.text, got, err, c.want)
		}
	}
}
