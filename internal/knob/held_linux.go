package knob

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/vishvananda/netlink"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// target is one setting of a request, with what it was found to be.
type target struct {
	setting spec.Setting
	scope   spec.Scope
	place   Place
	ctl     Control
	id      string // among all of the machine
	ifindex int    // of the interface, for a knob of one
}

// change is the record of what was done, before it was done.
func (t target) change(end, was string) result.Change {
	c := result.Change{End: end, Knob: t.setting.Knob, Value: shown(t.setting), Was: was}
	if t.scope == spec.OnDevice {
		c.Device = t.place.Device
	}
	return c
}

// shown is a setting's value for people: of a command without a name its text.
func shown(s spec.Setting) string {
	if s.Command != nil && s.Value == "" {
		return s.Command.Apply
	}
	return s.Value
}

// asked is the value that a Control is asked for.
func asked(s spec.Setting) string {
	if s.Command != nil {
		return s.Command.Apply
	}
	return s.Value
}

// held is one setting that a Holder has changed, or is about to.
type held struct {
	target
	// origin is the Control that read what it was; that one restores.
	origin Control
	rec    record
	lock   *lock
	// written says that it was changed indeed, and level to what a command did:
	// that cannot be read.
	written bool
	level   string
}

// fullID names a setting among all of the machine.
func fullID(ctl Control, ns sys.NetNSID) string {
	id := ctl.ID()
	if len(id) >= len(hostPrefix) && id[:len(hostPrefix)] == hostPrefix {
		return id
	}
	return fmt.Sprintf("net %d.%d %s", ns.Inode, ns.Cookie, id)
}

// again puts a later request's target in the place of the former one. A command
// that is the same has been made by the Control that is here.
func (h *held) again(t target) {
	if t.setting.Command != nil && reflect.DeepEqual(t.setting, h.setting) && t.place == h.place {
		return
	}
	if t.setting.Command != nil {
		h.origin = t.ctl
		if h.written {
			h.level = shown(h.setting)
		}
	}
	h.target = t
}

// set makes the setting hold, and says what was changed for it, if anything.
func (h *held) set(ctx context.Context, end string) (*result.Change, error) {
	value := asked(h.setting)
	was, err := h.ctl.Read(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: read what it is: %w", h.setting, err)
	}
	if h.ctl.Equal(was, value) {
		return nil, nil
	}
	c := h.change(end, was)
	if was == unknown && h.level != "" {
		c.Was = h.level
	}
	h.written = true
	begun := time.Now()
	if err := h.ctl.Write(ctx, value); err != nil {
		return nil, fmt.Errorf("%s: %w", h.setting, err)
	}
	c.Took = time.Since(begun)
	now, err := h.ctl.Read(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: read it back: %w", h.setting, err)
	}
	if !h.ctl.Equal(now, value) {
		return nil, fmt.Errorf("%s: it reads %s after %s was written (it was %s): %s ignored it", h.setting, now, value, was, h.who())
	}
	return &c, nil
}

func (t target) who() string {
	if t.scope == spec.OnDevice {
		return t.place.Device
	}
	return "the system"
}

// restore puts back what was, and returns what was changed for that. An error
// that is errGone says that there is nothing left to restore.
func (h *held) restore(ctx context.Context, end string) (*result.Change, error) {
	if h.ifindex != 0 {
		name, err := h.place.nameOf(h.ifindex)
		if err != nil {
			return nil, err
		}
		if name != h.place.Device {
			// Renamed meanwhile.
			h.place.Device = name
			if h.origin, err = open(h.place, h.setting); err != nil {
				return nil, fmt.Errorf("%s: restore %s: %w", h.setting, h.rec.Was, err)
			}
			h.ctl = h.origin
		}
	}
	c, err := restoreTo(ctx, h.origin, h.setting, h.rec.Was, h.written)
	if c == nil || err != nil {
		return nil, err
	}
	back := h.change(end, c.Was)
	back.Value, back.Took = h.rec.Was, c.Took
	return &back, nil
}

// restoreTo has a Control restore a value, and verifies it.
func restoreTo(ctx context.Context, ctl Control, s spec.Setting, was string, written bool) (*result.Change, error) {
	if s.Command != nil && !written {
		return nil, nil
	}
	now := unknown
	if s.Command == nil {
		var err error
		if now, err = ctl.Read(ctx); err != nil {
			return nil, fmt.Errorf("%s: read it, to restore %s: %w", s, was, err)
		}
		if now == was {
			return nil, nil
		}
	}
	begun := time.Now()
	if err := ctl.Restore(ctx, was); err != nil {
		return nil, fmt.Errorf("%s: restore %s: %w", s, was, err)
	}
	c := result.Change{Was: now, Took: time.Since(begun)}
	if s.Command != nil {
		return &c, nil
	}
	now, err := ctl.Read(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: read it back after %s was restored: %w", s, was, err)
	}
	if !ctl.Equal(now, was) {
		return nil, fmt.Errorf("%s: it reads %s after %s was restored", s, now, was)
	}
	return &c, nil
}

// nameOf finds the present name of an interface; errGone where there is none.
func (p Place) nameOf(ifindex int) (name string, err error) {
	err = p.netlink(func(nl *netlink.Handle) error {
		l, err := nl.LinkByIndex(ifindex)
		if errors.As(err, &netlink.LinkNotFoundError{}) {
			return fmt.Errorf("interface %s: %w", p.Device, errGone)
		}
		if err != nil {
			return fmt.Errorf("find interface %s: %w", p.Device, err)
		}
		name = l.Attrs().Name
		return nil
	})
	return name, err
}

// free ends what is held: the record goes, then the lock.
func (h *held) free() error {
	return errors.Join(h.lock.j.remove(h.lock.stem), h.lock.release())
}
