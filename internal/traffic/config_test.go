package traffic

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

func TestNewRefuses(t *testing.T) {
	good := Config{Role: result.Local, Test: spec.Test{Name: "udp_rr"}, Window: time.Second, Addr: netip.MustParseAddr("127.0.0.1")}
	for _, c := range []struct {
		want string // in the error
		make func(*Config)
	}{
		{"role", func(c *Config) { c.Role = "middle" }},
		{"udp_rr", func(c *Config) { c.Test.Name = "udp_crr" }},
		{"65507", func(c *Config) { c.Test.Params.Size = 65508 }},
		{"out of range", func(c *Config) { c.Test.Params.Size = -1 }},
		{"window", func(c *Config) { c.Window = 0 }},
		{"window", func(c *Config) { c.Window = 2 * spec.MaxWindow }},
		{"interval -1ns", func(c *Config) { c.Interval = -1 }},
		{"at most 3600", func(c *Config) { c.Interval = time.Millisecond / 4 }},
		{"warm-up", func(c *Config) { c.Warmup = -1 }},
		{"CPU", func(c *Config) { c.CPU = -2 }},
		{"address", func(c *Config) { c.Addr = netip.Addr{} }},
		{"no remote end", func(c *Config) { c.Test.Name = "icmp_echo"; c.Role = result.Remote }},
	} {
		cfg := good
		c.make(&cfg)
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want one with %q", cfg, err, c.want)
		}
	}
}
