package knob

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"

	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// threaded is whether the interface's NAPI polls run in kernel threads
// (Documentation/networking/napi.rst).
type threaded struct{ file deviceNumber }

func openThreaded(p Place, s spec.Setting, _ string) (Control, error) {
	c, err := openDeviceNumber(p, s, "threaded", "Linux 5.12 or newer")
	if err != nil {
		return nil, err
	}
	return threaded{c.(deviceNumber)}, nil
}

func (c threaded) ID() string { return c.file.ID() }

// Read returns on or off, or the number of a kernel that has more.
func (c threaded) Read(ctx context.Context) (string, error) {
	text, err := c.file.Read(ctx)
	switch text {
	case "0":
		text = stateOff
	case "1":
		text = stateOn
	}
	return text, err
}

func (c threaded) Write(ctx context.Context, value string) error {
	switch value {
	case stateOff:
		value = "0"
	case stateOn:
		value = "1"
	}
	err := c.file.Write(ctx, value)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return unavailable("threaded NAPI of "+c.file.place.Device, "set it "+value, "an interface that has NAPI now",
			"a veth has it while gro is on: set that first", err)
	}
	return err
}

func (c threaded) Restore(ctx context.Context, was string) error {
	is, err := c.Read(ctx)
	if err != nil || is == was {
		return err
	}
	return c.Write(ctx, was)
}

func (c threaded) Equal(read, asked string) bool { return read == asked }

// Settled says that the threads are there where polls are to run in them. When
// they are not to, the kernel needs no time: polls are in softirq from the next
// on, and old kernels keep the idle threads.
func (c threaded) Settled(ctx context.Context) (bool, error) {
	is, err := c.Read(ctx)
	if err != nil || is == stateOff {
		return err == nil, err
	}
	threads, seen, err := sys.NAPIThreads(c.file.place.Device)
	return len(threads) > 0 || !seen && err == nil, err
}
