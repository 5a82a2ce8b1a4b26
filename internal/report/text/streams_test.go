package text

import (
	"strings"
	"testing"

	"netdelta/internal/stages"
)

// streams is one made-up stream under two variants.
func streams() []stages.Stream {
	n := func(v float64) *float64 { return &v }
	variant := func(name, largest string, window, qdisc, received float64) stages.StreamVariant {
		return stages.StreamVariant{
			Name: name, Trials: 6, Samples: 900, Largest: largest, BytesPerPacket: n(1514),
			Places: []stages.Place{
				{Name: stages.PlaceSend, Bytes: n(2 << 20), Most: n(3 << 20)}, {Name: stages.PlaceQdisc, Bytes: n(qdisc), Most: n(2 * qdisc)},
				{Name: stages.PlaceWay, Bytes: n(20_000), Most: n(40_000)}, {Name: stages.PlaceSoftnet},
				{Name: stages.PlaceReceived, Bytes: n(received), Most: n(2 * received)},
			},
			Limits: []stages.Limit{{By: stages.LimitWindow, Share: n(window)}, {By: stages.LimitSend, Share: n(0)}, {By: stages.LimitNone, Share: n(1 - window)}},
		}
	}
	a, b := variant("softirq", stages.PlaceQdisc, 0.03, 60_000, 10_000), variant("kthread", stages.PlaceReceived, 0.71, 0, 200_000)
	b.FramesPerRun = n(12.5)
	return []stages.Stream{{Test: "tcp_stream", From: "local", Variants: []stages.StreamVariant{a, b}, Said: []string{"A sentence."}}}
}

func TestStreamSection(t *testing.T) {
	got := strings.Join(streamTexts(streams())[0], "\n")
	want := `Where data waits: tcp_stream
                       softirq                  kthread
  send buffer          2.00 MiB (max 3.00 MiB)  2.00 MiB (max 3.00 MiB)
  qdisc                58.6 KiB (max 117 KiB)   0 B
  on the way           19.5 KiB (max 39.1 KiB)  19.5 KiB (max 39.1 KiB)
  softnet backlog      -                        -
  receive buffer       9.77 KiB (max 19.5 KiB)  195 KiB (max 391 KiB)
  most beyond sending  qdisc                    receive buffer
  limit: rcv window    3%                       71%
  limit: send buffer   0%                       0%
  limit: none          97%                      29%
  bytes per packet     1514 B                   1514 B
  frames per run       -                        12.5
  Queues were looked at 1800 times in 12 trials, at each end; medians of
    the trials' means.
  A sentence.`
	if !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, line := range strings.Split(got, "\n") {
		if len(line) > Width {
			t.Errorf("%d characters: %s", len(line), line)
		}
	}
	if parts := streamParts(streams()); len(parts) != 1 || parts[0].Name != PartStreams || len(parts[0].Table.Rows) != 11 {
		t.Errorf("parts %+v", parts)
	}
	if lead := streamLead(streams()); len(lead) != 1 {
		t.Errorf("%d sentences lead", len(lead))
	}
}
