//go:build linux || darwin || freebsd

package traffic

import (
	"errors"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// incoming receives a TCP stream on one connection.
type incoming struct {
	receiving
	row    recvMethod
	method streamReceiver
}

func newIncoming(cfg *Config, t *team, conn *socket) (*incoming, error) {
	row, err := recvMethodOf(*cfg)
	if err != nil {
		return nil, err
	}
	return &incoming{receiving: newReceivingHalf(cfg, t, []*socket{conn}), row: row}, nil
}

func (h *incoming) ready() (err error) {
	if h.method == nil {
		// The method may shorten it.
		if err = h.conns[0].setTimeout(unix.SO_RCVTIMEO, pollTime); err != nil {
			return err
		}
		if h.method, err = h.row.stream(h.conns[0], *h.cfg); err == nil {
			h.stats = h.method.stats()
		}
	}
	return err
}

func (h *incoming) run() error {
	err := h.begin()
	if err == nil {
		err = h.loop()
	}
	if err == nil {
		h.end()
	}
	err = errors.Join(err, h.close())
	h.part()
	return err
}

// loop is the measured part.
func (h *incoming) loop() error {
	method := h.method
	for !h.ended {
		if (h.meter.phase == closed || h.team.stop.Load()) && h.over() {
			return nil
		}
		n, errno := method.receive()
		if errno != 0 || n == 0 {
			if err := h.nothing(errno); err != nil {
				return err
			}
			continue
		}
		if h.meter.event(1, n, sys.Nanotime()) {
			h.turned()
		}
	}
	return nil
}

// nothing deals with a receive call that brought nothing.
//
//go:noinline
func (h *incoming) nothing(errno unix.Errno) error {
	switch errno {
	case 0, unix.ECONNRESET:
		h.ended = true
		return h.gone(errno)
	case unix.EAGAIN:
		h.silence()
	case unix.EINTR:
	default:
		return h.conns[0].failed("receive from", errno)
	}
	return nil
}

func (h *incoming) close() error {
	m := h.method
	h.method = nil
	return closeMethod(m)
}
