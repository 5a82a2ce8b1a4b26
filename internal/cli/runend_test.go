package cli

import (
	"testing"

	"netdelta/internal/result"
	"netdelta/internal/run"
	"netdelta/internal/spec"
	"netdelta/internal/traffic"
)

// Tests that measured nothing are told with their own reasons, those with one
// reason together.
func TestNothingThrough(t *testing.T) {
	tests, err := spec.ParseTests("icmp_echo,udp_rr,tcp_rr,tcp_crr,udp_stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	refused := []result.Warning{{Code: run.CodeUnavailable, Text: "no 100% way", Advice: "leave it"}}
	trials := []result.Trial{
		{Test: tests[0], Warnings: refused},
		{Test: tests[1]},
		{Test: tests[2], Local: result.End{Warnings: []result.Warning{{Code: traffic.WarnUnfinished}}}},
		{Test: tests[3], Warnings: refused},
		{Test: tests[4], Warnings: []result.Warning{{Code: run.CodeMTU, Text: "packets are lost", Advice: "see the MTU"}}},
	}
	want := "icmp_echo, tcp_crr could not be measured: no 100% way: leave it; " +
		"nothing came through in udp_rr: look at the routes and firewalls of both ends; " +
		"not one message of tcp_rr ended within the window: measure for longer (--time); " +
		"nothing came through in udp_stream: packets are lost: see the MTU"
	if got := nothingThrough(tests, trials).Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
