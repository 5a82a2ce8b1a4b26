package traffic

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// checkSlots checks that every slot of a window was used or missed.
func checkSlots(t *testing.T, end result.End) (slots, missed int64) {
	t.Helper()
	slots, missed = end.Counts[result.CountSlots], end.Counts[result.CountMissed]
	if slots != end.Counts[CountSent]+missed || missed < 0 {
		t.Errorf("%d slots, %d datagrams, %d missed", slots, end.Counts[CountSent], missed)
	}
	return slots, missed
}

func TestPacedUDPStream(t *testing.T) {
	for _, p := range []spec.Params{
		{Rate: 500}, {Rate: 10_000}, {Rate: 30_000, Send: "sendmmsg", Recv: "recvmmsg"}, {Rate: 30_000, Send: "gso", Recv: "gro"},
		{BitRate: 4_000_000}, {Rate: 10_000, CatchUp: spec.On},
	} {
		p.Size = 50
		t.Run(udpName(p), func(t *testing.T) {
			needMethods(t, p)
			rate := spec.Test{Name: "udp_stream", Params: p}.Slots()
			var got float64
			for range 30 { // a busy machine stalls
				tr := udpTrial(p, loopbacks["ipv4"])
				tr.window = 40 * time.Millisecond
				local, remote := tr.runFull(t)
				slots, missed := checkSlots(t, local)
				checkWholeTrial(t, p, local, remote)
				if p.CatchUp == spec.On && missed != local.Counts[CountSendErrors] {
					t.Errorf("%d of %d slots missed with catch-up", missed, slots)
				}
				got = float64(local.Messages) / local.Elapsed.Seconds()
				if got > 0.95*rate && got < 1.05*rate {
					return
				}
			}
			t.Errorf("the rate is %.0f/s, want %.0f/s", got, rate)
		})
	}
}

// TestSlowUDPStream has a rate that is none in the window.
func TestSlowUDPStream(t *testing.T) {
	tr := udpTrial(spec.Params{Size: 50, Rate: 1}, loopbacks["ipv4"])
	began := time.Now()
	local, remote := tr.run(t)
	if slots, missed := checkSlots(t, local); slots != 0 || missed != 0 || local.Messages != 0 || local.Elapsed < tr.window {
		t.Errorf("%d datagrams in %v, %v", local.Messages, local.Elapsed, local.Counts)
	}
	if took := time.Since(began); took > maxCoolTime+5*time.Second || remote.Counts[CountReceivedAll] == 0 {
		t.Errorf("took %v, %v", took, remote.Counts)
	}
}

// stalls is a method whose third call takes long, and whose fifth is refused.
type stalls struct {
	plainMethod
	datagrams [][]byte
	largest   int
}

const stall = 30 * time.Millisecond

func (m *stalls) batch() [][]byte { return m.datagrams }

func (m *stalls) send(n int) (int, unix.Errno) {
	m.calls++
	switch m.calls {
	case 3:
		sys.SleepUntil(sys.Nanotime() + int64(stall))
	case 5:
		return 0, unix.ENOBUFS
	}
	m.largest = max(m.largest, n)
	return n, 0
}

func TestStalledUDPStream(t *testing.T) {
	const rate = 10_000
	for _, catchUp := range []spec.Switch{spec.Off, spec.On} {
		cfg := Config{Role: result.Local, Window: 60 * time.Millisecond,
			Test: spec.Test{Name: "udp_stream", Params: spec.Params{Size: 50, Rate: rate, CatchUp: catchUp}}}
		m := &stalls{datagrams: makeBuffers(1000, 50)}
		e := &udpSender{cfg: cfg, method: m, sock: &socket{}, flows: make([]udpFlow, 1), mark: newStreamMark(50), meter: meterOf(cfg)}
		end, err := e.Run()
		if err != nil {
			t.Fatal(err)
		}
		slots, missed := checkSlots(t, end)
		refused := end.Counts[CountSendErrors]
		held := int(stall.Seconds() * rate)
		if slots < int64(held) || refused != 1 {
			t.Errorf("%d slots in %v, %v", slots, end.Elapsed, end.Counts)
		}
		switch catchUp {
		case spec.Off:
			if missed < int64(held/2) || m.largest > held/2 {
				t.Errorf("%d of %d slots missed, %d datagrams went out at once", missed, slots, m.largest)
			}
		case spec.On:
			if missed != refused || m.largest < held/2 {
				t.Errorf("%d of %d slots missed with catch-up, %d datagrams went out at once", missed, slots, m.largest)
			}
		}
	}
}

func TestPacingIgnored(t *testing.T) {
	end := result.End{Bytes: 1250, Elapsed: time.Millisecond} // 10 Mbit/s
	for _, c := range []struct {
		pacing, flows int
		warned        bool
	}{{0, 1, false}, {10_000_000, 1, false}, {9_200_000, 1, false}, {9_000_000, 1, true}, {2_000_000, 4, true}, {2_500_000, 4, false}} {
		for _, name := range []string{"udp_stream", "tcp_stream"} {
			w := pacingIgnored(spec.Test{Name: name, Params: spec.Params{Pacing: c.pacing}}, c.flows, end)
			if (len(w) == 1) != c.warned {
				t.Errorf("%s, pacing %d bit/s of %d flows: %v", name, c.pacing, c.flows, w)
			}
		}
	}
	if w := pacingIgnored(spec.Test{Params: spec.Params{Pacing: 1}}, 1, result.End{}); w != nil {
		t.Errorf("no window: %v", w)
	}
	// Loopback has no queue that paces.
	local, _ := udpTrial(spec.Params{Size: 1000, Pacing: 100_000}, loopbacks["ipv4"]).runFull(t)
	if !warned(local, WarnPacing) {
		t.Errorf("no warning: %d bytes in %v", local.Bytes, local.Elapsed)
	}
}
