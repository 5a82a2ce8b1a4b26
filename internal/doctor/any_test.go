package doctor

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"netdelta/internal/result"
)

// Whatever is told, nothing panics, and what comes out can be written.
func TestAnyFacts(t *testing.T) {
	names := []string{}
	for _, f := range good() {
		names = append(names, f.Name)
	}
	names = append(names, "hypervisor", "numa nodes", "nftables", "eth0 kind", "eth0 xdp", "device ", "device x", "x rings")
	words := []string{"", "0", "1", "-1", "off", "on", "rx", "of", "256", "99999999999999999999", "us to wake", "Mbit/s", ",", "half duplex", "on all", "adaptive-rx on", "mtu"}
	value := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOfN(rapid.SampledFrom(words), 0, 5), func(w []string) string { return strings.Join(w, " ") }))
	fact := rapid.Custom(func(t *rapid.T) result.Fact {
		return result.Fact{Name: rapid.OneOf(rapid.SampledFrom(names), rapid.String()).Draw(t, "name"), Value: value.Draw(t, "value")}
	})
	counts := rapid.MapOf(rapid.SampledFrom([]string{"cpu0.idle", "cpu0.steal", "cpu0.user", "context_switches", "step_ns", "rx_packets", "squeezed", "cpu0.khz", "cpu0.throttles"}), rapid.Int64())
	reading := rapid.Custom(func(t *rapid.T) result.Reading {
		return result.Reading{Source: rapid.SampledFrom([]string{result.SourceCPU, result.SourceIdle, result.SourceDevice, result.SourceFrequency, result.SourceClock, result.SourceSoftnet}).Draw(t, "source"),
			Elapsed: time.Duration(rapid.Int64().Draw(t, "elapsed")), Counts: counts.Draw(t, "counts"), Levels: counts.Draw(t, "levels"), Was: counts.Draw(t, "was")}
	})
	anyHost := rapid.Custom(func(t *rapid.T) Host {
		h := Host{End: rapid.SampledFrom([]string{result.Local, result.Remote}).Draw(t, "end"), Facts: rapid.SliceOfN(fact, 0, 12).Draw(t, "facts"),
			Device: rapid.SampledFrom([]string{"", "eth0", "x"}).Draw(t, "device")}
		if rapid.Bool().Draw(t, "looked") {
			h.Look = &result.Counters{CPUs: rapid.SliceOfN(rapid.IntRange(0, 2), 0, 3).Draw(t, "cpus"), Readings: rapid.SliceOfN(reading, 0, 6).Draw(t, "readings")}
		}
		return h
	})
	rapid.Check(t, func(t *rapid.T) {
		r := Examine(Input{Hosts: rapid.SliceOfN(anyHost, 0, 3).Draw(t, "hosts"), Loopback: rapid.Bool().Draw(t, "loopback")})
		if _, err := json.Marshal(r); err != nil {
			t.Fatal(err)
		}
		last := 100
		for _, f := range r.Findings {
			if f.Weight < 1 || f.Weight > last || f.What == "" || f.Why == "" || f.Command == "" && f.Advice == "" {
				t.Fatalf("%+v", f)
			}
			last = f.Weight
		}
		for _, e := range r.Ends {
			if len(e.Fine)+len(e.Unknown) > len(rules) {
				t.Fatalf("%+v", e)
			}
		}
	})
}

// Every rule is explained to people, and none that is not there.
func TestRulesAreDocumented(t *testing.T) {
	const file = "../../docs/doctor.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z][a-z-]*)` \\|").FindAllStringSubmatch(string(text), -1) {
		documented[m[1]] = true
	}
	for _, r := range Rules() {
		if !documented[r.Code] {
			t.Errorf("%s does not explain %s", file, r.Code)
		}
		delete(documented, r.Code)
	}
	for code := range documented {
		t.Errorf("%s explains %s, which is no rule", file, code)
	}
}
