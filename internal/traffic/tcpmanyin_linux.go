//go:build !portable

package traffic

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// manyIn receives a TCP stream on each of many connections.
type manyIn struct {
	receiving
	flowSet
}

func newManyIn(cfg *Config, t *team, conns []*socket) *manyIn {
	h := &manyIn{receiving: newReceivingHalf(cfg, t, conns), flowSet: newFlowSet(len(conns), maxChunk)}
	h.stats = h.calls.stats()
	return h
}

func (h *manyIn) ready() error { return nil }

func (h *manyIn) result() result.End { return h.warn(h.receiving.result(), h.cfg.Role) }

func (h *manyIn) run() error {
	err := h.begin()
	if err == nil {
		err = h.watch(h.conns, unix.EPOLLIN)
	}
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
func (h *manyIn) loop() error {
	for !h.ended {
		if (h.meter.phase == closed || h.team.stop.Load()) && h.over() {
			return nil
		}
		n, errno := h.wait()
		for _, event := range h.events[:n] {
			i := event.Fd
			c := h.conns[i]
			received, errno := c.Recv(h.buffer, unix.MSG_DONTWAIT)
			h.calls.calls++
			if errno != 0 || received == 0 {
				if err := h.nothing(c, errno); err != nil {
					return err
				}
				continue
			}
			h.moved[i] += int64(received)
			if h.meter.event(1, received, sys.Nanotime()) {
				h.turned()
			}
		}
		if n == 0 {
			if err := h.idle(errno); err != nil {
				return err
			}
		}
	}
	return nil
}

//go:noinline
func (h *manyIn) idle(errno unix.Errno) error {
	if errno != 0 && errno != unix.EINTR {
		return fmt.Errorf("wait for data on %d connections (epoll_wait): %w", h.live, errno)
	}
	if errno == 0 {
		h.silence()
	}
	return nil
}

// nothing deals with a receive call that brought nothing. The stream has ended
// when the last connection has.
//
//go:noinline
func (h *manyIn) nothing(c *socket, errno unix.Errno) error {
	switch errno {
	case 0, unix.ECONNRESET:
		if err := h.gone(errno); err != nil {
			return err
		}
		err := h.drop(c)
		h.ended = h.live == 0
		return err
	case unix.EAGAIN, unix.EINTR:
		return nil
	}
	return c.failed("receive from", errno)
}
