package spec

import (
	"fmt"
	"strings"
)

const (
	maxDevice  = 15      // bytes of an interface's name (IFNAMSIZ of linux/if.h, without its 0)
	maxCommand = 8 << 10 // bytes of one command
)

// Validate reports what is wrong with a setting, without looking at any host: an
// unknown knob or end, a value that the knob can't have.
func (s Setting) Validate() error {
	row, arg, err := s.Row()
	if err != nil {
		return err
	}
	if s.End != EndLocal && s.End != EndRemote && s.End != EndBoth {
		return fmt.Errorf("knob %s: end %s: valid are %s, %s, %s", s.Knob, quoted(s.End), EndLocal, EndRemote, EndBoth)
	}
	if s.End != EndBoth && (row.Scope == OnTest || row.Scope == OnLink) {
		return fmt.Errorf("knob %s: both ends share it, leave @%s out", s.Knob, s.End)
	}
	if err := s.checkDevice(row); err != nil {
		return fmt.Errorf("knob %s: %w", s.Knob, err)
	}
	if err := s.Command.validate(row); err != nil {
		return fmt.Errorf("knob %s: %w", s.Knob, err)
	}
	if err := row.check(arg, s.Value); err != nil {
		return fmt.Errorf("knob %s: %w", s.Knob, err)
	}
	return nil
}

// checkDevice holds a device to what can be an interface's name
// (dev_valid_name in net/core/dev.c), and so to no path.
func (s Setting) checkDevice(row Knob) error {
	d := s.Device
	switch {
	case d == "":
		return nil
	case row.Scope != OnDevice:
		return fmt.Errorf("it is none of an interface's, leave %s out", quoted(d))
	case len(d) > maxDevice:
		return fmt.Errorf("%s is longer than an interface's name can be, %d bytes", quoted(d), maxDevice)
	case d == "." || d == ".." || strings.ContainsFunc(d, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("/:@=,", r) }):
		return fmt.Errorf("%s is no interface's name", quoted(d))
	}
	return nil
}

// validate reports what is wrong with a knob's command, nil for none.
func (c *Command) validate(row Knob) error {
	switch {
	case c == nil && row.Scope == OnCommand:
		return fmt.Errorf("no command is given: write %s", row.Form)
	case c == nil:
		return nil
	case row.Scope != OnCommand:
		return fmt.Errorf("it takes no command")
	case c.Apply == "":
		return fmt.Errorf("apply is empty: it makes the change")
	}
	for _, text := range []string{c.Apply, c.Restore, c.Check} {
		if len(text) > maxCommand {
			return fmt.Errorf("a command of %d bytes: at most %d are taken", len(text), maxCommand)
		}
		if strings.Contains(text, "\x00") {
			return fmt.Errorf("a command has a zero byte in it")
		}
	}
	return nil
}
