package result

import (
	"testing"
	"time"
)

// A part of an end that had hardly any window has no figure, whatever the other
// part had.
func TestBrokenPartOfAnEnd(t *testing.T) {
	const window = 100 * time.Millisecond
	for _, c := range []struct {
		name    string
		elapsed time.Duration // of what the remote end received
		there   bool
	}{{"whole", window, true}, {"half", window / 2, true}, {"a moment", 5 * time.Millisecond, false}} {
		duplex := Trial{Test: mustTest(t, "tcp_bidir"), Window: window,
			Local: End{Role: Local, Elapsed: window, Bytes: 1, Counts: map[string]int64{CountReceivedBytes: 1, CountReceivedElapsed: int64(window)}},
			Remote: &End{Role: Remote, Elapsed: window, Bytes: 1,
				Counts: map[string]int64{CountReceivedBytes: 8, CountReceivedElapsed: int64(c.elapsed)}}}
		loaded := Trial{Test: mustTest(t, "udp_rr"), Window: window, Local: End{Role: Local, Elapsed: window},
			Remote: &End{Role: Remote, Elapsed: window, Counts: map[string]int64{CountLoadBytes: 8, CountLoadElapsed: int64(c.elapsed)}}}
		loaded.Test.Params.Load = "tcp_stream"
		for _, x := range []struct {
			of    Trial
			taken Taken
		}{{duplex, Taken{Goodput, Remote}}, {loaded, Taken{LoadGoodput, Remote}}} {
			got := -1.0
			for _, m := range x.of.Metrics() {
				if m.Taken() == x.taken {
					got = m.Value
				}
			}
			want := -1.0
			if c.there {
				want = 64 / c.elapsed.Seconds()
			}
			if got != want {
				t.Errorf("%s, %s: %v, want %v (-1 for none)", c.name, x.taken.Name, got, want)
			}
		}
	}
}
