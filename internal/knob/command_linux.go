package knob

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"netdelta/internal/spec"
)

// commandLimit is how long one command may take.
const commandLimit = 10 * time.Minute

// unknown is what a command's setting was: nobody can read that.
const unknown = "unknown"

// command is a change that is made by what a user gave. Commands of one end with
// the same restore are one setting, which later levels change again without
// that the restore is run in between; it is run once, at the end. A command with
// another restore is another setting: its predecessor's restore is run before
// its own apply.
type command struct {
	place Place
	run   spec.Command
	// made says that this Control has made the change.
	made bool
}

func openCommand(p Place, s spec.Setting, _ string) (Control, error) {
	if s.Command == nil || strings.TrimSpace(s.Command.Apply) == "" {
		return nil, errors.New("a command needs apply: what sh is to run")
	}
	return &command{place: p, run: *s.Command}, nil
}

func (c *command) ID() string {
	sum := sha256.Sum256([]byte(c.run.Restore))
	return fmt.Sprintf("%scommand %s %x %d", hostPrefix, c.place.End, sum[:8], c.place.turn)
}

// Read returns the command if it is made: by check's word, or without a check
// because this Control has run it. Otherwise nobody knows what is.
func (c *command) Read(ctx context.Context) (string, error) {
	if c.run.Check == "" {
		if c.made {
			return c.run.Apply, nil
		}
		return unknown, nil
	}
	err := c.place.shell(ctx, c.run.Check)
	if status := (*statusError)(nil); errors.As(err, &status) {
		return unknown, nil
	}
	if err != nil {
		return "", fmt.Errorf("check %q: %w", c.run.Check, err)
	}
	return c.run.Apply, nil
}

func (c *command) Write(ctx context.Context, _ string) error {
	c.made = false
	if err := c.place.shell(ctx, c.run.Apply); err != nil {
		return fmt.Errorf("apply %q: %w", c.run.Apply, err)
	}
	c.made = true
	if c.run.Check == "" {
		return nil
	}
	if err := c.place.shell(ctx, c.run.Check); err != nil {
		c.made = false
		return fmt.Errorf("apply %q was run, but check %q: %w", c.run.Apply, c.run.Check, err)
	}
	return nil
}

func (c *command) Restore(ctx context.Context, _ string) error {
	c.made = false
	if c.run.Restore == "" {
		return nil
	}
	if err := c.place.shell(ctx, c.run.Restore); err != nil {
		return fmt.Errorf("restore %q: %w", c.run.Restore, err)
	}
	return nil
}

// Equal holds for what was too: whether a restore has brought that back only its
// exit status tells.
func (c *command) Equal(read, asked string) bool {
	return asked == unknown || read == c.run.Apply
}
