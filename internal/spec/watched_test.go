package spec

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func planOf(t *testing.T, explain, tests string) Plan {
	t.Helper()
	all, err := ParseTests(tests, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Plan{Tests: all, Blocks: 2, Window: time.Second, Explain: explain}
}

func names(all []Test) (names []string) {
	for _, t := range all {
		names = append(names, t.String())
	}
	return names
}

// A test that is watched has itself beside it as it is without that, once.
func TestWatchedTestsArePaired(t *testing.T) {
	for _, c := range []struct{ explain, tests, want string }{
		{"", "udp_rr,tcp_stream", "udp_rr size=1|tcp_stream size=128KiB"},
		{"auto", "udp_rr,tcp_stream", "udp_rr size=1|tcp_stream size=128KiB|udp_rr size=1 explain=auto"},
		{"stamps", "udp_rr,udp_rr explain=bpf,icmp_echo", "udp_rr size=1|udp_rr size=1 explain=bpf|icmp_echo size=56|icmp_echo size=56 explain=stamps"},
		{"auto", "tcp_stream", "tcp_stream size=128KiB"},
		{"", "tcp_rr explain=clock", "tcp_rr size=1 explain=clock|tcp_rr size=1"},
		{"auto", "udp_rr burst=4,udp_rr rate=100,udp_rr", "udp_rr size=1 burst=4|udp_rr size=1 rate=100|udp_rr size=1|udp_rr size=1 explain=auto"},
	} {
		p := planOf(t, c.explain, c.tests)
		for range 2 { // validating it again changes nothing
			if err := p.ValidateSingle(); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(names(p.Tests), "|"); got != c.want {
				t.Errorf("%s of %q: %s, want %s", c.explain, c.tests, got, c.want)
			}
		}
		q := p.WithoutWatched()
		if slices.ContainsFunc(q.Tests, Test.Watched) || q.Explain != "" {
			t.Errorf("without: %v", names(q.Tests))
		}
	}
}

func TestWhatCannotBeWatched(t *testing.T) {
	for explain, tests := range map[string]string{"auto": "tcp_crr", "guess": "udp_rr"} {
		p := planOf(t, explain, tests)
		if err := p.ValidateSingle(); err == nil {
			t.Errorf("%s of %s is taken", explain, tests)
		}
	}
	for _, test := range []string{"tcp_stream explain=auto", "udp_rr burst=2 explain=auto", "udp_rr flows=2 explain=auto", "udp_rr rate=100 explain=auto",
		"udp_rr load=tcp_stream explain=auto", "udp_rr explain=x", "wake explain=auto", "tcp_crr explain=auto"} {
		if _, err := ParseTests(test, nil); err == nil {
			t.Errorf("%q is taken", test)
		}
	}
}
