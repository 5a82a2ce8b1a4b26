package text

import (
	"strings"
	"testing"

	"netdelta/internal/compare"
	"netdelta/internal/result"
)

// Many facts leave a page as short as it was, and what differs of them is on it
// under names that can be read.
func TestManyFacts(t *testing.T) {
	r := compare.Report{Pairing: compare.Unpaired}
	r.Environment = []compare.Fact{{Name: "kernel", Value: "6.18"}, {Name: "net.core.rmem_max", Value: "212992"}, {Name: "remote eth0 rings", Value: "rx 256 of 4096"}}
	lines := strings.Join(facts(&r), "\n")
	if lines != "The same in all runs, at both ends where none is named\n  kernel  6.18\n  (2 further facts: --format json)" {
		t.Errorf("got\n%s", lines)
	}

	change := func(end, name, old, new string) {
		r.EnvironmentDiff = append(r.EnvironmentDiff, compare.FactChange{End: end, Name: name, Old: old, New: new})
	}
	change(result.Local, result.FactBoot, "12345678", "9abcdef0")
	change(result.Remote, result.FactBoot, "12345678", "9abcdef0")
	if page := strings.Join(differs(&r), " "); !strings.HasPrefix(page, "Nothing that is kept about either end changed between these runs but for") {
		t.Errorf("got %q", page)
	}
	r.EnvironmentDiff = nil
	change(result.Local, "net.core.rmem_max", "212992", "4194304")
	change(result.Local, "governor", "powersave", "performance")
	change(result.Local, "net.ipv4.tcp_slow_start_after_idle", "1", "0")
	change(result.Remote, "net.core.rmem_max", "212992", "4194304")
	change(result.Remote, "net.ipv4.tcp_slow_start_after_idle", "1", "")
	change(result.Local, result.FactBoot, "12345678", "9abcdef0")
	want := `Between these runs, this changed as well
  both ends' net.core.rmem_max  212992 -> 4194304
  local governor  powersave -> performance
  local net.ipv4.tcp_slow_start_after_idle  1 -> 0
  remote net.ipv4.tcp_slow_start_after_idle  1 -> (none)
  local boot      12345678 -> 9abcdef0`
	if page := strings.Join(differs(&r), "\n"); page != want {
		t.Errorf("got\n%s", page)
	}
}
