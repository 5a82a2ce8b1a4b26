package run

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// bisect finds the limit of any path, in few steps.
func TestBisect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		largest := rapid.IntRange(2, spec.MaxDatagram).Draw(t, "largest")
		limit := rapid.OneOf(rapid.IntRange(1, spec.MaxDatagram), rapid.SampledFrom([]int{1, 548, 1472, 1473, 8972})).Draw(t, "limit")
		r := &runner{path: &Path{RemoteAddr: addrB}}
		steps := 0
		got, next, err := bisect(r.sizes(largest), func(size int) (bool, error) {
			steps++
			return size <= limit, nil
		})
		wantNext := limit + 1
		if limit >= largest {
			limit, wantNext = largest, 0
		}
		if err != nil || got != limit || next != wantNext {
			t.Fatalf("got %d and %d, %v; want %d and %d", got, next, err, limit, wantNext)
		}
		if steps > 22 {
			t.Fatalf("%d steps", steps)
		}
	})
}

func TestSilence(t *testing.T) {
	test := func(list string) spec.Test {
		tests, err := spec.ParseTests(list, nil)
		if err != nil {
			t.Fatal(err)
		}
		return tests[0]
	}
	for _, c := range []struct {
		name    string
		test    spec.Test
		remote  netip.Addr
		carries func(spec.Test) bool
		code    string // "" for no warning
		want    string
	}{
		{"all passes", test("udp_rr size=8000"), addrB, nil, "", ""},
		{"nothing passes", test("udp_stream"), addrB, func(spec.Test) bool { return false },
			CodeBlocked, "not even UDP datagrams of one byte pass"},
		{"up to Ethernet's MTU", test("udp_rr size=8000"), addrB,
			func(x spec.Test) bool { return max(x.RequestSize(), x.ResponseSize()) <= 1472 },
			CodeMTU, "UDP datagrams of 1472 bytes pass and of 1473 bytes do not: packets of more than 1500 bytes"},
		{"the same with IPv6", test("udp_stream size=8000"), netip.MustParseAddr("2001:db8::2"),
			func(x spec.Test) bool { return x.RequestSize() <= 1452 },
			CodeMTU, "UDP datagrams of 1452 bytes pass and of 1453 bytes do not: packets of more than 1500 bytes"},
		{"one way only", test("udp_rr request=1 response=8000"), addrB,
			func(x spec.Test) bool { return x.ResponseSize() <= 700 },
			CodeMTU, "datagrams of 700 bytes pass and of 701 bytes do not"},
		{"a stream's way back does not matter", test("udp_stream size=8000"), addrB,
			func(x spec.Test) bool { return x.Name == "udp_rr" && x.ResponseSize() == 1 }, "", ""},
		{"TCP", test("tcp_stream size=1MiB"), addrB,
			func(x spec.Test) bool { return x.Name == "udp_rr" && x.RequestSize() <= 1372 },
			CodeMTU, "packets of more than 1400 bytes are lost"},
		{"ICMP only", test("icmp_echo size=8000"), addrB,
			func(x spec.Test) bool { return x.Name == "udp_rr" }, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			on(t, func(t *testing.T, b *bench) {
				single(b)
				b.cfg.Plan.Tests = []spec.Test{c.test}
				b.carries = c.carries
				b.path = func(p *Path) {
					if c.remote.Is6() {
						p.LocalAddr, p.RemoteAddr = netip.MustParseAddr("2001:db8::1"), c.remote
					}
				}
				if err := Run(t.Context(), b.cfg); err != nil {
					t.Fatal(err)
				}
				for i, tr := range b.trials {
					if c.code == "" && len(tr.Warnings) == 0 {
						continue
					}
					if len(tr.Warnings) != 1 || tr.Warnings[0].Code != c.code || !strings.Contains(tr.Warnings[0].Text, c.want) {
						t.Errorf("trial %d: warnings %v", i, tr.Warnings)
					}
				}
				// Only the first trial is looked into.
				last := slices.Index(b.log[slices.Index(b.log, "close"):], "apply ")
				again := b.log[slices.Index(b.log, "close")+last:]
				if n := strings.Count(strings.Join(again, "\n"), "a run"); n != 2 {
					t.Errorf("%d runs after the first trial, want 2: %q", n, again)
				}
			})
		})
	}
}

// A host that fails while the silence is looked into does not cost the trial.
func TestSilenceUnexplained(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		single(b)
		b.cfg.Plan.Tests = []spec.Test{b.cfg.Plan.Tests[1]}
		b.carries = func(spec.Test) bool { return false }
		b.fail = at("b arm", 2, errBroken)
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		if len(b.trials) != 3 || len(b.trials[0].Warnings) != 0 || len(b.trials[1].Warnings) != 1 {
			t.Errorf("trials %+v", b.trials)
		}
		for _, tr := range b.trials {
			if tr.Attempt != 1 || tr.Local.Role != result.Local {
				t.Errorf("trial %+v", tr)
			}
		}
	})
}
