//go:build !portable

package traffic

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// manyOut sends a TCP stream on each of many connections.
type manyOut struct {
	sending
	flowSet
	left []int // bytes of each connection's message that are still to be sent
}

func newManyOut(cfg *Config, t *team, conns []*socket) *manyOut {
	h := &manyOut{sending: newSendingHalf(cfg, t, conns), flowSet: newFlowSet(len(conns), cfg.Test.Params.Size), left: make([]int, len(conns))}
	for i := range h.left {
		h.left[i] = cfg.Test.Params.Size
	}
	h.stats = h.calls.stats()
	return h
}

func (h *manyOut) ready() error { return nil }

func (h *manyOut) result() result.End { return h.warn(h.sending.result(), h.cfg.Role) }

func (h *manyOut) run() error {
	begins, err := h.begin()
	if err == nil && begins {
		if err = h.watch(h.conns, unix.EPOLLOUT); err == nil {
			err = h.loop()
		}
		if err == nil {
			h.end()
			err = h.turned()
		}
	}
	err = errors.Join(err, h.close())
	h.part()
	return err
}

// loop is the measured part.
func (h *manyOut) loop() error {
	size := h.cfg.Test.Params.Size
	now := sys.Nanotime()
	if h.meter.tick(now) {
		if err := h.turned(); err != nil {
			return err
		}
	}
	for !h.hungUp && !h.team.stop.Load() && (h.meter.phase != closed || h.goesOn(now)) {
		n, errno := h.wait()
		for _, event := range h.events[:n] {
			i := event.Fd
			sent, errno := h.conns[i].Send(h.buffer[:min(h.left[i], len(h.buffer))], unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
			h.calls.calls++
			now = sys.Nanotime()
			var turned bool
			if errno == 0 {
				messages := 0
				if h.left[i] -= sent; h.left[i] == 0 {
					messages, h.left[i] = 1, size
				}
				h.moved[i] += int64(sent)
				turned = h.meter.event(messages, sent, now)
			} else if err := h.failed(h.conns[i], errno); err != nil {
				return err
			}
			if turned {
				if err := h.turned(); err != nil {
					return err
				}
			}
		}
		if n == 0 {
			if err := h.idle(errno); err != nil {
				return err
			}
			now = sys.Nanotime()
		}
	}
	return nil
}

// idle deals with a wait in which no connection had room.
//
//go:noinline
func (h *manyOut) idle(errno unix.Errno) error {
	if errno != 0 && errno != unix.EINTR {
		return fmt.Errorf("wait for room in %d connections (epoll_wait): %w", h.live, errno)
	}
	if h.meter.stall(sys.Nanotime()) {
		return h.turned()
	}
	return nil
}

// failed deals with a send that brought an error. The stream has ended when
// the last connection has.
//
//go:noinline
func (h *manyOut) failed(c *socket, errno unix.Errno) error {
	if err := h.refused(c, errno); err != nil || !h.hungUp {
		return err
	}
	err := h.drop(c)
	h.hungUp = h.live == 0
	return err
}
