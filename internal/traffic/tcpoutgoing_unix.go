//go:build linux || darwin || freebsd

package traffic

import (
	"errors"

	"netdelta/internal/sys"
)

// maxWrite is the largest write of a TCP stream: a larger message takes several.
const maxWrite = 1 << 20

// outgoing sends a TCP stream as fast as it can, on one connection.
type outgoing struct {
	sending
	row    sendMethod
	method streamSender
}

func newOutgoing(cfg *Config, t *team, conn *socket) (*outgoing, error) {
	row, err := sendMethodOf(*cfg)
	if err != nil {
		return nil, err
	}
	return &outgoing{sending: newSendingHalf(cfg, t, []*socket{conn}), row: row}, nil
}

func (h *outgoing) ready() (err error) {
	if h.method == nil {
		if h.method, err = h.row.stream(h.conns[0], *h.cfg); err == nil {
			h.stats = h.method.stats()
		}
	}
	return err
}

func (h *outgoing) run() error { return h.carry(h.loop, h.turned) }

// carry has a loop send the stream from its beginning to its end.
func (h *outgoing) carry(loop, turned func() error) error {
	begins, err := h.begin()
	if err == nil && begins {
		if err = loop(); err == nil {
			h.end()
			err = turned()
		}
	}
	if err == nil {
		err = h.finish()
	}
	err = errors.Join(err, h.close())
	h.part()
	return err
}

// finish waits for what the kernel has not done with. A remote end's stream
// ends when nobody reads on, so that what is left may stay there.
func (h *outgoing) finish() error {
	if h.local && !h.team.stop.Load() {
		return h.method.finish(finishTime)
	}
	return h.method.finish(pollTime)
}

// loop is the measured part. A call that waits for room in the socket's buffer
// longer than pollTime returns with EAGAIN, so a peer that reads nothing
// delays the end by no more than that.
func (h *outgoing) loop() error {
	method, size := h.method, h.cfg.Test.Params.Size
	now := sys.Nanotime()
	if h.meter.tick(now); h.meter.phase == open {
		if err := h.turned(); err != nil {
			return err
		}
	}
	left := size // bytes of the message that are still to be sent
	for !h.team.stop.Load() && (h.meter.phase != closed || h.goesOn(now)) {
		n, errno := method.send(left)
		now = sys.Nanotime()
		var turned bool
		if errno == 0 {
			messages := 0
			if left -= n; left == 0 {
				messages, left = 1, size
			}
			turned = h.meter.event(messages, n, now)
		} else {
			if err := h.refused(h.conns[0], errno); err != nil || h.hungUp {
				return err
			}
			turned = h.meter.stall(now)
		}
		if turned {
			if err := h.turned(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *outgoing) close() error {
	m := h.method
	h.method = nil
	return closeMethod(m)
}
