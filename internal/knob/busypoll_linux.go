package knob

import (
	"context"
	"fmt"
	"strings"

	"netdelta/internal/spec"
)

// busyPoll is how long, in us, a thread that waits for packets polls the device
// itself before it sleeps: in poll and select, and in reads (socket(7)).
type busyPoll struct{ poll, read *sysctl }

func openBusyPoll(p Place, _ spec.Setting, _ string) (Control, error) {
	poll, err := sysctlAt(p, "net.core.busy_poll")
	if err != nil {
		return nil, err
	}
	read, err := sysctlAt(p, "net.core.busy_read")
	if err != nil {
		return nil, err
	}
	return busyPoll{poll, read}, nil
}

// ID is that of the first of the two, so that sysctl.net.core.busy_poll is the
// same setting.
func (c busyPoll) ID() string { return c.poll.ID() }

// Read returns both values in one word where they are the same.
func (c busyPoll) Read(ctx context.Context) (string, error) {
	poll, err := c.poll.Read(ctx)
	if err != nil {
		return "", err
	}
	read, err := c.read.Read(ctx)
	if err != nil || poll == read {
		return poll, err
	}
	return poll + " " + read, nil
}

func (c busyPoll) Write(ctx context.Context, value string) error {
	words := strings.Fields(value)
	if len(words) == 0 || len(words) > 2 {
		return fmt.Errorf("%q is not a number of microseconds, or two", value)
	}
	if err := c.poll.Write(ctx, words[0]); err != nil {
		return err
	}
	return c.read.Write(ctx, words[len(words)-1])
}

func (c busyPoll) Restore(ctx context.Context, was string) error { return c.Write(ctx, was) }

func (c busyPoll) Equal(read, asked string) bool { return normal(read) == normal(asked) }
