package traffic

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// lossyTrial is a udp_rr trial whose window sees a hundred round trips or more.
func lossyTrial(addr netip.Addr, size int) trial {
	return trial{test: "udp_rr", params: spec.Params{Size: size}, addr: addr,
		warmup: 10 * time.Millisecond, window: 120 * time.Millisecond}
}

// onLossyPaths runs a subtest with both families, and with numbers of one byte
// and of eight.
func onLossyPaths(t *testing.T, f func(t *testing.T, tr trial)) {
	sizes := map[string]int{"ipv4": 1, "ipv6": 9}
	for name, addr := range loopbacks {
		t.Run(fmt.Sprint(name, " size ", sizes[name]), func(t *testing.T) { f(t, lossyTrial(addr, sizes[name])) })
	}
}

// wholeCounts are those of a whole trial of udp_rr.
var wholeCounts = []string{CountSentAll, CountReceivedAll, CountSocketDropsAll}

// checkLossy checks what holds on any path.
func checkLossy(t *testing.T, local result.End) {
	t.Helper()
	wantCounts(t, local, append(wholeCounts, CountSent, CountLost, CountLate, CountStale)...)
	if local.Messages == 0 {
		t.Fatal("no round trips")
	}
	late := local.Counts[CountLate]
	if got := local.RTT.Count(); got != local.Messages+late {
		t.Errorf("%d samples of %d round trips and %d late ones", got, local.Messages, late)
	}
	if warned(local, WarnLateAnswers) != (late > 0) {
		t.Errorf("%d late answers, warnings %v", late, local.Warnings)
	}
	if late > 0 && time.Duration(local.RTT.Max()) < minTimeout {
		t.Errorf("late answers, and the longest round trip is %v", time.Duration(local.RTT.Max()))
	}
	if local.Counts[CountSent] != local.Messages+local.Counts[CountLost]+local.Counts[CountLate] {
		t.Errorf("sent is not messages + lost + late: %d messages, %v", local.Messages, local.Counts)
	}
	// No timeout has become a round trip: the two make up the window.
	// (A late one has its true length, which begins within a timeout.)
	waited := time.Duration(local.Counts[CountLost]) * minTimeout
	if sum := time.Duration(local.RTT.Mean() * float64(local.Messages)); late == 0 && sum > local.Elapsed-waited {
		t.Errorf("round trips sum up to %v of %v, of which %v or more were timeouts", sum, local.Elapsed, waited)
	}
}

func TestLostAnswersAreCountedAndResent(t *testing.T) {
	onLossyPaths(t, func(t *testing.T, tr trial) {
		const each = 50
		dropped := 0
		tr.between = through(t, func(i int, answer []byte, deliver func([]byte)) {
			if i%each == 0 {
				dropped++
				return
			}
			deliver(answer)
		})
		local, _ := tr.run(t)
		checkLossy(t, local)
		lost := local.Counts[CountLost]
		// A busy machine makes some late, but loses none.
		if want := local.Counts[CountSent] / each; lost < want-1 || lost > want+1 {
			t.Errorf("every %dth answer was dropped, %d in all: %v", each, dropped, local.Counts)
		}
	})
}

func TestDuplicateAnswersAreStale(t *testing.T) {
	onLossyPaths(t, func(t *testing.T, tr trial) {
		tr.between = through(t, func(i int, answer []byte, deliver func([]byte)) {
			deliver(answer)
			deliver(answer)
		})
		local, _ := tr.run(t)
		checkLossy(t, local)
		// One may be the warm-up's, and the last one may still be under way.
		if extra := local.Counts[CountStale] - local.Counts[CountSent]; extra < -2 || extra > 2 || local.Counts[CountLost] != 0 {
			t.Errorf("every answer came twice: %d messages, %v", local.Messages, local.Counts)
		}
	})
}

// TestLateAnswersAreNotLost holds some answers back until the request has been
// given up and the next one has been answered.
func TestLateAnswersAreNotLost(t *testing.T) {
	onLossyPaths(t, func(t *testing.T, tr trial) {
		var held []byte
		tr.between = through(t, func(i int, answer []byte, deliver func([]byte)) {
			switch i % 50 {
			case 0:
				held = slices.Clone(answer)
				return
			case 1:
				if held != nil {
					deliver(held)
				}
			}
			deliver(answer)
		})
		local, _ := tr.run(t)
		checkLossy(t, local)
		// One may have been given up in the warm-up, and the last one may be
		// held for ever.
		late := local.Counts[CountLate]
		if late == 0 || local.Counts[CountLost] > 1 || local.Counts[CountStale] > 1 {
			t.Errorf("late answers: %d messages, %v", local.Messages, local.Counts)
		}
	})
}

// TestLongPath has a round trip longer than the longest timeout at the start:
// the warm-up learns it from the late answers.
func TestLongPath(t *testing.T) {
	tr := lossyTrial(loopbacks["ipv4"], 1)
	tr.warmup, tr.window = 300*time.Millisecond, 300*time.Millisecond
	delay := 250 * time.Millisecond
	type item struct {
		b   []byte
		out func([]byte)
		due time.Time
	}
	queue := make(chan item, 1000)
	t.Cleanup(func() { close(queue) })
	go func() {
		for i := range queue {
			time.Sleep(time.Until(i.due))
			i.out(i.b)
		}
	}()
	tr.between = through(t, func(i int, answer []byte, deliver func([]byte)) {
		queue <- item{slices.Clone(answer), deliver, time.Now().Add(delay)}
	})
	local, _ := tr.run(t)
	if local.Messages < 1 || local.Counts[CountLost] != 0 || local.Counts[CountLate] != 0 {
		t.Errorf("%d round trips of %v in %v, %v", local.Messages, delay, local.Elapsed, local.Counts)
	}
	if local.Messages > 0 && time.Duration(local.RTT.Min()) < delay {
		t.Errorf("a round trip of %v on a path of %v", time.Duration(local.RTT.Min()), delay)
	}
}

// TestAnswersAfterTheWindow lets the answer to the last request of all come
// late: it is awaited.
func TestAnswersAfterTheWindow(t *testing.T) {
	tr := lossyTrial(loopbacks["ipv4"], 8)
	tr.warmup, tr.window = 0, 100*time.Millisecond
	tr.between = through(t, func(i int, answer []byte, deliver func([]byte)) {
		if i == 1 { // given up after firstTimeout, when the window is over
			held := slices.Clone(answer)
			time.AfterFunc(firstTimeout+30*time.Millisecond, func() { deliver(held) })
		}
	})
	local, _ := tr.run(t)
	for name, want := range map[string]int64{CountSent: 1, CountLost: 0, CountLate: 1, CountStale: 0, CountSentAll: 1, CountReceivedAll: 1} {
		if got, there := local.Counts[name]; !there || got != want {
			t.Errorf("%s is %d, want %d, of %v", name, got, want, local.Counts)
		}
	}
	if local.Messages != 0 || !warned(local, WarnLateAnswers) {
		t.Errorf("%d messages, warnings %v", local.Messages, local.Warnings)
	}
}
