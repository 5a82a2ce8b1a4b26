//go:build linux || darwin || freebsd

package traffic

import (
	"errors"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// paced sends a TCP stream at a fixed rate: a message in each slot of its
// pacer. While a message waits for room in the socket's buffer, the slots pass.
type paced struct {
	outgoing
	pacer pacer
	// slots and missed are the pacer's at the window's two ends.
	slots, missed [2]int64
}

func newPaced(cfg *Config, t *team, conn *socket) (*paced, error) {
	h, err := newOutgoing(cfg, t, conn)
	if err != nil {
		return nil, err
	}
	return &paced{outgoing: *h, pacer: newPacer(cfg.Test.Slots(), cfg.Test.Params.CatchUp == spec.On)}, nil
}

func (h *paced) run() error {
	if err := sys.PreciseTimers(); err != nil {
		err = errors.Join(err, h.close())
		h.part()
		return err
	}
	return h.carry(h.loop, h.turned)
}

// loop is the measured part; see outgoing.loop.
func (h *paced) loop() error {
	method, size := h.method, h.cfg.Test.Params.Size
	now := sys.Nanotime()
	h.pacer.begin(now)
	if h.meter.tick(now); h.meter.phase == open {
		if err := h.turned(); err != nil {
			return err
		}
	}
	left := 0 // bytes of the message that are still to be sent
	for !h.team.stop.Load() && (h.meter.phase != closed || h.goesOn(now)) {
		var turned bool
		if left == 0 && !h.due(now) {
			now = sys.Nanotime()
			turned = h.meter.stall(now)
		} else {
			if left == 0 {
				h.pacer.take()
				left = size
			}
			n, errno := method.send(left)
			now = sys.Nanotime()
			if errno == 0 {
				messages := 0
				if left -= n; left == 0 {
					messages = 1
				}
				turned = h.meter.event(messages, n, now)
			} else {
				if err := h.refused(h.conns[0], errno); err != nil || h.hungUp {
					return err
				}
				turned = h.meter.stall(now)
			}
		}
		if turned {
			if err := h.turned(); err != nil {
				return err
			}
		}
	}
	return nil
}

// due says whether a slot is due, and otherwise sleeps until it nearly is.
//
//go:nosplit
func (h *paced) due(now int64) bool {
	due := h.pacer.due(now)
	if due <= now {
		return true
	}
	sys.SleepUntil(min(due, now+int64(pollTime)))
	return false
}

// turned takes the slots, too, where the window begins and ends.
//
//go:noinline
func (h *paced) turned() error {
	seen := h.seen
	err := h.outgoing.turned()
	for ; seen < h.seen; seen++ {
		switch seen + 1 {
		case open:
			h.count(0, h.meter.begin.at)
		case closed:
			h.count(1, h.meter.end.at)
		}
	}
	return err
}

// count takes the slots that have been used or missed by then.
func (h *paced) count(i int, at int64) {
	h.pacer.due(at) // passes over those missed
	h.slots[i], h.missed[i] = h.pacer.passed(), h.pacer.missed
}

func (h *paced) result() result.End {
	end := h.outgoing.result()
	end.Counts[result.CountSlots] = h.slots[1] - h.slots[0]
	end.Counts[result.CountMissed] = h.missed[1] - h.missed[0]
	return end
}
