package knob

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"netdelta/internal/spec"
)

// rootQdisc is the queueing discipline at an interface's root (tc(8)).
type rootQdisc struct{ place Place }

func openQdisc(p Place, _ spec.Setting, _ string) (Control, error) {
	if err := checkDevice(p); err != nil {
		return nil, gone(p, err)
	}
	return rootQdisc{p}, nil
}

func (c rootQdisc) ID() string { return settingID(c.place, "qdisc") }

// Read returns the kind with its options and what else is needed to make it
// again, or "KIND default" where the kernel has chosen it.
func (c rootQdisc) Read(context.Context) (string, error) {
	q, err := c.root()
	if err != nil {
		return "", err
	}
	return q.text(), nil
}

func (c rootQdisc) root() (q qdisc, err error) {
	err = c.place.link(func(_ *netlink.Handle, l netlink.Link) error {
		return c.place.in(func() error {
			q, err = readRoot(l.Attrs().Index)
			return err
		})
	})
	if err != nil {
		return q, gone(c.place, fmt.Errorf("read the qdisc of %s: %w", c.place.Device, err))
	}
	return q, nil
}

// Write refuses before it changes anything if what is there could not be put
// back exactly. It makes a qdisc anew also where one of the kind is there, so that
// no option of that one stays.
func (c rootQdisc) Write(_ context.Context, value string) error {
	is, err := c.root()
	if err != nil {
		return err
	}
	if is.lasting != "" {
		return fmt.Errorf("qdisc of %s was left alone: %s is there, which could not be put back exactly: %s", c.place.Device, is.kind, is.lasting)
	}
	if value == qdiscDefault {
		return c.remove()
	}
	q, k, err := parseQdisc(value)
	if err != nil {
		return err
	}
	if is.kind == q.kind {
		// The kernel would change it in part.
		if err := c.remove(); err != nil {
			return err
		}
	}
	return c.make(q, k.optionsOf(q.numbers))
}

// Restore makes what was there, with its handle and options, or removes what is
// there where the kernel had chosen.
func (c rootQdisc) Restore(_ context.Context, was string) error {
	q, err := parseQdiscWas(was)
	if err != nil {
		return err
	}
	if q.handle == 0 {
		return c.remove()
	}
	is, err := c.root()
	if err != nil || is.text() == was {
		return err
	}
	k, err := qdiscKindOf(q.kind)
	if err != nil {
		return err
	}
	options, err := k.restoring(q)
	if err != nil {
		return err
	}
	if is.handle == q.handle || is.kind == q.kind {
		// It would be changed in part, and not made anew.
		if err := c.remove(); err != nil {
			return err
		}
	}
	return c.make(q, options)
}

func (c rootQdisc) make(q qdisc, options []byte) error {
	return c.change("set", q.kind, func(index int) error {
		return sendQdisc(unix.RTM_NEWQDISC, unix.NLM_F_CREATE|unix.NLM_F_REPLACE, index, q.handle, q.kind, options)
	})
}

// remove takes the root away, so that the kernel chooses one. There is nothing
// to take where it has.
func (c rootQdisc) remove() error {
	is, err := c.root()
	if err != nil || is.handle == 0 {
		return err
	}
	return c.change("remove", is.kind, func(index int) error {
		return sendQdisc(unix.RTM_DELQDISC, 0, index, is.handle, "", nil)
	})
}

func (c rootQdisc) change(did, kind string, send func(index int) error) error {
	err := c.place.link(func(_ *netlink.Handle, l netlink.Link) error {
		return c.place.in(func() error { return send(l.Attrs().Index) })
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOENT):
		return unavailable("qdisc "+kind, did+" it on "+c.place.Device, "a kernel or a module that has it", "", err)
	case errors.Is(err, unix.EOPNOTSUPP):
		return unavailable("qdisc "+kind+" of "+c.place.Device, did+" it", "an interface that it is for, such as one with several queues for mq", "", err)
	}
	return gone(c.place, fmt.Errorf("%s qdisc %s of %s: %w", did, kind, c.place.Device, err))
}

func (c rootQdisc) Equal(read, asked string) bool { return equalQdisc(read, asked) }

// lastingOf says why a root could not be made again as it is.
func lastingOf(root qdisc, others []qdiscMessage, sized, filtered bool) string {
	k, err := qdiscKindOf(root.kind)
	switch {
	case err != nil:
		return "its options and classes are not known here"
	case slices.ContainsFunc(others, func(m qdiscMessage) bool { return m.handle != 0 }):
		return "somebody has put qdiscs below it"
	case len(others) > 0 && !k.parent:
		return "it has qdiscs below it"
	case sized:
		return "it has a table of sizes"
	case filtered:
		return "it has filters"
	}
	return ""
}
