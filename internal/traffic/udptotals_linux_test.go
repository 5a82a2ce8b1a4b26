package traffic

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"netdelta/internal/spec"
)

// Both directions of udp_rr balance to the datagram, whichever engine counts.
func TestUDPRRTotals(t *testing.T) {
	for _, c := range []struct {
		params spec.Params
		full   bool // its requests do not fit into the remote end's socket
	}{
		{spec.Params{Size: 1}, false},
		{spec.Params{Size: 64, Rate: 2000}, false},
		{spec.Params{Size: 64, Flows: 20, Threads: 2}, false},
		{spec.Params{Size: 64, Burst: 8}, false},
		{spec.Params{Size: 1000, Flows: 64, Burst: 8, RcvBuf: 8192}, true},
	} {
		t.Run(spec.Test{Name: "udp_rr", Params: c.params}.String(), func(t *testing.T) {
			if c.full && slices.Contains(untold, CountSocketDropsAll) {
				t.Skip("this layer does not tell what a socket drops")
			}
			tr := trial{test: "udp_rr", params: c.params, addr: loopbacks["ipv4"], warmup: 10 * time.Millisecond, window: 80 * time.Millisecond}
			var said string
			for range 5 { // an answer may come after its timeout on a busy machine
				local, remote := tr.run(t)
				wantCounts(t, remote, append(wholeCounts, CountSendErrors)...)
				forth := local.Counts[CountSentAll] - remote.Counts[CountReceivedAll] - remote.Counts[CountSocketDropsAll]
				back := remote.Counts[CountSentAll] - local.Counts[CountReceivedAll] - local.Counts[CountSocketDropsAll]
				dropped := remote.Counts[CountSocketDropsAll] + local.Counts[CountSocketDropsAll]
				said = fmt.Sprintf("%d requests and %d answers are missing: %v, %v", forth, back, local.Counts, remote.Counts)
				if forth == 0 && back == 0 && local.Messages > 0 && (dropped > 0) == c.full {
					return
				}
			}
			t.Error(said)
		})
	}
}

// Answers that nothing waits for are received all the same, and requests whose
// answers are lost were sent.
func TestUDPRRTotalsOfOddAnswers(t *testing.T) {
	for _, p := range []spec.Params{{Size: 9}, {Size: 9, Rate: 2000}, {Size: 9, Burst: 8}} {
		t.Run(spec.Test{Name: "udp_rr", Params: p}.String(), func(t *testing.T) {
			tr := lossyTrial(loopbacks["ipv4"], 9)
			tr.params = p
			var lost, copies atomic.Int64
			tr.between = through(t, func(i int, answer []byte, deliver func([]byte)) {
				switch {
				case i%20 == 7:
					lost.Add(1)
					return
				case i%20 == 3:
					copies.Add(1)
					deliver(answer)
				}
				deliver(answer)
			})
			local, remote := tr.run(t)
			got, sent := local.Counts[CountReceivedAll], remote.Counts[CountSentAll]
			// The relay and the sockets keep nothing but what was under way at the end.
			if want := sent - lost.Load() + copies.Load(); lost.Load() == 0 || copies.Load() == 0 || got > want || got < want-8 {
				t.Errorf("%d answers came, want %d: %d sent, %d of them lost and %d copied", got, want, sent, lost.Load(), copies.Load())
			}
			if asked, came := local.Counts[CountSentAll], remote.Counts[CountReceivedAll]; asked != came {
				t.Errorf("%d requests were sent, and %d came", asked, came)
			}
		})
	}
}
