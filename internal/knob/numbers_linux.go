package knob

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"netdelta/internal/spec"
)

// number is one of the numbers that ethtool sets: of coalescing, a ring's size,
// or how many channels there are.
type number struct {
	place Place
	knob  string
	kind  numberKind
	field numberField
	call  ethtoolCall
}

func openCoalesce(p Place, s spec.Setting, arg string) (Control, error) {
	return openNumber(p, s, coalescing, arg)
}

func openRing(p Place, s spec.Setting, arg string) (Control, error) {
	return openNumber(p, s, rings, arg)
}

func openNumber(p Place, s spec.Setting, kind numberKind, name string) (Control, error) {
	if err := checkDevice(p); err != nil {
		return nil, gone(p, err)
	}
	return newNumber(p, s.Knob, kind, name, p.ethtoolWords)
}

// newNumber fails where the driver has no such numbers, or not this one.
func newNumber(p Place, knob string, kind numberKind, name string, call ethtoolCall) (*number, error) {
	f, err := kind.field(name)
	if err != nil {
		return nil, err
	}
	c := &number{p, knob, kind, f, call}
	words, err := kind.read(call)
	if err != nil {
		return nil, c.failed("read", err)
	}
	if f.max > 0 && words[f.max] == 0 {
		return nil, unavailable(c.String(), "read it with ethtool", "a driver that has it", "the most that it can be is 0", nil)
	}
	return c, nil
}

func (c *number) String() string { return c.knob + " of " + c.place.Device }

func (c *number) ID() string { return settingID(c.place, c.knob) }

func (c *number) Read(context.Context) (string, error) {
	words, err := c.kind.read(c.call)
	if err != nil {
		return "", c.failed("read", err)
	}
	return c.field.text(words[c.field.word]), nil
}

func (c *number) Write(_ context.Context, value string) error {
	n, err := c.field.number(value)
	if err == nil {
		err = c.kind.write(c.call, c.field, n)
	}
	return c.failed("set", err)
}

func (c *number) Restore(ctx context.Context, was string) error { return c.Write(ctx, was) }

func (c *number) Equal(read, asked string) bool { return read == asked }

// failed says what was tried when ethtool failed.
func (c *number) failed(did string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EOPNOTSUPP):
		return unavailable(c.String(), did+" it with ethtool "+c.kind.option, "a driver that has "+c.kind.what, "", err)
	}
	return gone(c.place, fmt.Errorf("%s %s (ethtool %s): %w", did, c, c.kind.option, err))
}
