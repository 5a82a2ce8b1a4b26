package knob

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"netdelta/internal/spec"
)

// settleLimit is how long a host may take to be ready after a change: links
// negotiate for some seconds, drivers that reset their device take as long.
const settleLimit = 30 * time.Second

// before looks, before the first change, at what has to come back after each.
func (h *Holder) before(ctx context.Context, r Request, t target) error {
	if t.scope == spec.OnHost {
		return nil
	}
	if index, up, err := t.place.linkUp(); err == nil && t.place.Device != "" {
		if _, known := h.ups[index]; !known {
			h.ups[index] = up
		}
		if t.scope == spec.OnCommand {
			// A command may make the interface anew.
			h.ups[0] = up
		}
	}
	if _, known := h.peers[r.Peer]; known || !r.Probe || !r.Peer.IsValid() {
		return nil
	}
	// Who may not ask has nothing to wait for, as if there were no answer.
	answers, err := answers(ctx, t.place, r.Addr, r.Peer)
	h.peers[r.Peer] = answers && err == nil
	return ctx.Err()
}

// settle waits until the host is ready again after a change, and returns how
// long that took.
func (h *Holder) settle(ctx context.Context, r Request, t target) (time.Duration, error) {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, h.limit())
	defer cancel()
	if s, ok := t.ctl.(Settler); ok {
		err := waitFor(ctx, s.Settled)
		if err != nil {
			return time.Since(begun), fmt.Errorf("%s was set, but the host did not get ready: %w", t.setting, err)
		}
	}
	if t.scope == spec.OnHost {
		return time.Since(begun), nil
	}
	if t.place.Device != "" && h.wasUp(t) {
		err := waitFor(ctx, func(context.Context) (bool, error) {
			_, up, err := t.place.linkUp()
			if errors.As(err, &netlink.LinkNotFoundError{}) && t.scope == spec.OnCommand {
				return false, nil
			}
			return up, err
		})
		if err != nil {
			return time.Since(begun), fmt.Errorf("%s was set, but the link of %s did not come up again: %w", t.setting, t.place.Device, err)
		}
	}
	if r.Probe && h.peers[r.Peer] {
		if err := waitAnswers(ctx, t.place, r.Addr, r.Peer); err != nil {
			return time.Since(begun), fmt.Errorf("%s was set, but %s, which answered ICMP echoes before, did not answer again: %w", t.setting, r.Peer, err)
		}
	}
	return time.Since(begun), nil
}

func (h *Holder) limit() time.Duration {
	if h.patience != 0 {
		return h.patience
	}
	return settleLimit
}

func (h *Holder) wasUp(t target) bool {
	if t.scope == spec.OnCommand {
		return h.ups[0]
	}
	return h.ups[t.ifindex]
}

// waitFor asks until the answer is yes, first without a pause.
func waitFor(ctx context.Context, ready func(context.Context) (bool, error)) error {
	begun := time.Now()
	for pause := 200 * time.Microsecond; ; pause = min(2*pause, 20*time.Millisecond) {
		yes, err := ready(ctx)
		if yes && err == nil {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited %v: %w", time.Since(begun).Round(time.Millisecond), ctx.Err())
		case <-time.After(pause):
		}
	}
}

// linkUp says whether the place's interface is up and has a carrier, and which
// index it has.
func (p Place) linkUp() (index int, up bool, err error) {
	const ready = unix.IFF_UP | unix.IFF_RUNNING | unix.IFF_LOWER_UP
	err = p.link(func(_ *netlink.Handle, l netlink.Link) error {
		index, up = l.Attrs().Index, l.Attrs().RawFlags&ready == ready
		return nil
	})
	return index, up, err
}
