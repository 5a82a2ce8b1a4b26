package cli

import (
	"strings"
	"testing"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

func TestRunListFits(t *testing.T) {
	long := strings.Repeat("ä", 40)
	text := runList([]listed{
		{ID: "0123456789", Label: long, Start: time.Date(2001, 10, 1, 12, 0, 0, 0, time.UTC), Target: long, State: result.Complete, Trials: 100_000},
		{ID: "abcdefghjk", State: result.Running},
	})
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[1], "0123456789 ä") || !strings.Contains(lines[1], "~ 2001-10-01 12:00 ") || !strings.HasSuffix(lines[1], "100000") {
		t.Errorf("got\n%s", text)
	}
	for _, l := range lines {
		if n := len([]rune(l)); n > 72 {
			t.Errorf("%d columns: %s", n, l)
		}
	}
	if got := runList(nil); got != "no runs are kept\n" {
		t.Errorf("got %q", got)
	}
}

func TestIntervalLine(t *testing.T) {
	live := func(name, end string) result.Live {
		test, err := spec.NewTest(name, spec.Params{})
		if err != nil {
			t.Fatal(err)
		}
		return result.Live{Test: test, End: end, Interval: result.Interval{
			At: 2 * time.Second, Elapsed: time.Second, Messages: 1000, Bytes: 1_250_000, RTT: result.RTT{P50: 21_000, Max: 1_500_000}}}
	}
	for _, c := range []struct{ name, end, want string }{
		{"udp_rr", result.Local, "udp_rr         local     2.0 s  1.00 k/s, p50 21.0 us, max 1.50 ms"},
		{"udp_rr", result.Remote, ""},
		{"icmp_echo", result.Local, "icmp_echo      local     2.0 s  1.00 k/s, p50 21.0 us, max 1.50 ms"},
		{"udp_stream", result.Local, "udp_stream     local     2.0 s  10.0 Mbit/s offered"},
		{"udp_stream", result.Remote, "udp_stream     remote    2.0 s  10.0 Mbit/s, 1.00 k/s"},
		{"tcp_stream", result.Remote, "tcp_stream     remote    2.0 s  10.0 Mbit/s"},
		{"tcp_maerts", result.Local, "tcp_maerts     local     2.0 s  10.0 Mbit/s"},
		{"tcp_maerts", result.Remote, "tcp_maerts     remote    2.0 s  10.0 Mbit/s offered"},
		{"tcp_bidir", result.Local, "tcp_bidir      local     2.0 s  10.0 Mbit/s offered"},
		{"tcp_bidir", result.Remote, "tcp_bidir      remote    2.0 s  10.0 Mbit/s offered"},
		{"tcp_crr", result.Local, "tcp_crr        local     2.0 s  1.00 k/s, p50 21.0 us, max 1.50 ms"},
		{"tcp_crr", result.Remote, ""},
		{"wake", result.Local, "wake           local     2.0 s  1.00 k/s, p50 21.0 us, max 1.50 ms"},
	} {
		if got := intervalLine(live(c.name, c.end)); got != c.want {
			t.Errorf("%s %s: got %q, want %q", c.name, c.end, got, c.want)
		}
	}
}

func TestPrintable(t *testing.T) {
	if got := printable("a\x1b[2J\nb\u202e"); got != "a?[2J?b?" {
		t.Errorf("got %q", got)
	}
}
