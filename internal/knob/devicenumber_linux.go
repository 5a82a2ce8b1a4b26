package knob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"

	"netdelta/internal/spec"
)

// deviceNumber is a file of an interface in sysfs that holds one number
// (sysfs-class-net of the kernel's ABI documents).
type deviceNumber struct {
	place Place
	knob  string
	file  string
	// need is what a kernel that has no such file lacks.
	need string
}

func openGROFlushTimeout(p Place, s spec.Setting, _ string) (Control, error) {
	return openDeviceNumber(p, s, "gro_flush_timeout", "Linux 3.19 or newer")
}

func openDeferHardIRQs(p Place, s spec.Setting, _ string) (Control, error) {
	return openDeviceNumber(p, s, "napi_defer_hard_irqs", "Linux 5.8 or newer")
}

func openDeviceNumber(p Place, s spec.Setting, file, need string) (Control, error) {
	c := deviceNumber{p, s.Knob, file, need}
	if err := checkDevice(p); err != nil {
		return nil, gone(p, err)
	}
	if _, err := c.Read(context.Background()); err != nil {
		return nil, err
	}
	return c, nil
}

func (c deviceNumber) ID() string { return settingID(c.place, c.knob) }

func (c deviceNumber) Read(context.Context) (string, error) {
	text, err := c.place.readFile(deviceFile(c.place, c.file))
	if err = gone(c.place, err); err == nil || errors.Is(err, errGone) {
		return text, err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", unavailable(c.knob+" of "+c.place.Device, "read it", c.need, "", err)
	}
	return "", err
}

func (c deviceNumber) Write(_ context.Context, value string) error {
	err := gone(c.place, c.place.writeFile(deviceFile(c.place, c.file), value))
	if errors.Is(err, unix.ERANGE) {
		return fmt.Errorf("%s of %s: %s is more than the kernel takes: %w", c.knob, c.place.Device, value, err)
	}
	return forbidden(c.place, c.knob, err)
}

// Restore writes only what is another way, since what may not be written may
// well be as it was.
func (c deviceNumber) Restore(ctx context.Context, was string) error {
	is, err := c.Read(ctx)
	if err != nil || is == was {
		return err
	}
	return c.Write(ctx, was)
}

func (c deviceNumber) Equal(read, asked string) bool { return read == asked }
