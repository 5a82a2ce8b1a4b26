package result

import (
	"strings"
	"testing"
	"time"

	"netdelta/internal/spec"
)

// A window that its count or its bytes have ended gives figures, however short
// it is, and so does the other end's of the same length.
func TestWindowsWithALimit(t *testing.T) {
	const window, short = 10 * time.Second, 3 * time.Millisecond
	for _, c := range []struct {
		name          string
		test          string
		params        spec.Params
		local, remote End
		broken        bool   // is any metric missing for the window
		warning       string // in a warning count-not-reached; empty for none
	}{
		{"no limit", "tcp_stream", spec.Params{},
			End{Elapsed: short, Bytes: 1000}, End{Elapsed: short, Bytes: 1000}, true, ""},
		{"bytes reached", "tcp_stream", spec.Params{Bytes: 1000},
			End{Elapsed: short, Bytes: 1000}, End{Elapsed: short, Bytes: 1000}, false, ""},
		{"count of a stream of bytes", "tcp_stream", spec.Params{Count: 10, Size: 100},
			End{Elapsed: short, Messages: 10, Bytes: 1000}, End{Elapsed: short, Messages: 3, Bytes: 1000}, false, ""},
		{"the receiver lacks a few", "udp_stream", spec.Params{Count: 1000, Size: 1},
			End{Elapsed: short, Messages: 1000, Bytes: 1000}, End{Elapsed: short, Messages: 950, Bytes: 950}, false, ""},
		{"the receiver lacks half", "udp_stream", spec.Params{Count: 1000, Size: 1},
			End{Elapsed: short, Messages: 1000, Bytes: 1000}, End{Elapsed: short, Messages: 500, Bytes: 500}, false,
			"the remote end's window was over after 3ms with 500 of 1000 messages"},
		{"the receiver's is a third of the sender's", "udp_stream", spec.Params{Count: 1000, Size: 1},
			End{Elapsed: 3 * short, Messages: 1000, Bytes: 1000}, End{Elapsed: short, Messages: 950, Bytes: 950}, true, ""},
		{"not reached in time", "tcp_stream", spec.Params{Bytes: 1001},
			End{Elapsed: window, Bytes: 1000}, End{Elapsed: window, Bytes: 1001}, false,
			"the local end's window was over after 10s with 1000 of 1001 bytes"},
		{"neither reached nor long", "tcp_stream", spec.Params{Bytes: 1001},
			End{Elapsed: short, Bytes: 1000}, End{Elapsed: short, Bytes: 1000}, true,
			"the local end's window was over after 3ms with 1000 of 1001 bytes"},
		{"round trips", "udp_rr", spec.Params{Count: 200},
			End{Elapsed: short, Messages: 200, RTT: rtts(200)}, End{Elapsed: short, Messages: 199}, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			test, err := spec.NewTest(c.test, c.params)
			if err != nil {
				t.Fatal(err)
			}
			x := Trial{Test: test, Window: window, Local: c.local, Remote: &c.remote}
			x.Local.Role, x.Remote.Role = Local, Remote
			_, missing := names(t, &x, shortWindow)
			if broken := len(missing) > 0; broken != c.broken {
				t.Errorf("%v are missing for the window", missing)
			}
			var said []string
			for _, w := range x.AllWarnings() {
				if w.Code == countNotReached {
					said = append(said, w.Text)
				}
			}
			if got := strings.Join(said, "; "); got != c.warning {
				t.Errorf("warned %q, want %q", got, c.warning)
			}
		})
	}
}

// A stream of so few messages that its window is no time has no rate.
func TestStreamOfAMoment(t *testing.T) {
	for _, c := range []struct {
		elapsed time.Duration
		there   bool
	}{{20 * time.Microsecond, false}, {2 * time.Millisecond, true}} {
		test, err := spec.NewTest("tcp_stream", spec.Params{Bytes: 1000})
		if err != nil {
			t.Fatal(err)
		}
		x := Trial{Test: test, Window: time.Second,
			Local:  End{Role: Local, Elapsed: c.elapsed, Bytes: 1000, Counts: map[string]int64{"retransmits": 0}},
			Remote: &End{Role: Remote, Elapsed: c.elapsed, Bytes: 1000}}
		there := false
		for _, m := range x.Metrics() {
			there = there || m.Name == Goodput
		}
		if there != c.there {
			t.Errorf("a window of %v has a goodput: %v", c.elapsed, there)
		}
	}
}
