package ctl

import (
	"errors"
	"strings"
	"testing"

	"netdelta/internal/feature"
)

// What an agent of an older program says of settings that it does not know
// becomes a sentence that says what to do, and leaves other tests alone.
func TestOlderAgent(t *testing.T) {
	c := &Client{host: "b", hello: Hello{Version: "0.1.0"}}
	for text, name := range map[string]string{
		`invalid request: trial settings: json: unknown field "flows"`:                 `"flows"`,
		`invalid request: trial settings: unknown test "tcp_crr": valid are icmp_echo`: `"tcp_crr"`,
		`invalid request: settings: unknown knob "warp": valid are gro`:                `"warp"`,
		`invalid request: both a port, 7, and a range of ports are given`:              "",
	} {
		err := c.older(&Error{Host: "b", Step: "prepare", Kind: ErrInvalid, Text: text})
		if name == "" {
			if !errors.Is(err, ErrInvalid) || errors.Is(err, feature.ErrUnavailable) {
				t.Errorf("%s: got %v", text, err)
			}
			continue
		}
		if !errors.Is(err, feature.ErrUnavailable) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "netdelta 0.1.0") {
			t.Errorf("%s: got %v", text, err)
		}
	}
	if err := c.older(ErrLost); err != ErrLost {
		t.Errorf("another error became %v", err)
	}
}
