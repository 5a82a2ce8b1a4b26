package cli

import "testing"

func FuzzParsePercent(f *testing.F) {
	for _, s := range []string{"2%", "0.5", "", "nan", "1e400", "-1%", " 3 %"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, err := parsePercent(s); err == nil && !(v > 0 && v < 1) {
			t.Errorf("%q is %v", s, v)
		}
	})
}

func FuzzParseCPU(f *testing.F) {
	for _, s := range []string{"auto", "none", "0", "-1", "99999999999999999999", "+1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if cpu, err := parseCPU(s); err == nil && s != "auto" && s != "none" && cpu < 0 {
			t.Errorf("%q is %d", s, cpu)
		}
	})
}

func TestParseCPUs(t *testing.T) {
	for _, c := range []struct {
		text  string
		first int
		more  int
		ok    bool
	}{
		{"none", -1, 0, true}, {"3", 3, 0, true}, {"0,2, 4", 0, 2, true},
		{"", 0, 0, false}, {"0,none", 0, 0, false}, {"none,0", 0, 0, false}, {"0,,1", 0, 0, false}, {"-1", 0, 0, false}, {"0;1", 0, 0, false},
	} {
		first, more, err := parseCPUs(c.text, parseFarCPU)
		if (err == nil) != c.ok || c.ok && (first != c.first || len(more) != c.more) {
			t.Errorf("%q: %d and %v, %v", c.text, first, more, err)
		}
	}
}
