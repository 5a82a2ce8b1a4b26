package knob

import (
	"context"
	"fmt"
	"strings"

	"netdelta/internal/spec"
)

// features are one feature of an interface or several with a common name, as
// ethtool -K switches them.
type features struct {
	place   Place
	name    string // as the user has it
	pattern string // of the kernel's names
	call    ethtoolCall
	// restored is what Restore has set last, and found to be wanted again.
	restored string
}

func openFeatures(p Place, s spec.Setting, arg string) (Control, error) {
	if err := checkDevice(p); err != nil {
		return nil, gone(p, err)
	}
	c := &features{place: p, name: arg, pattern: arg, call: p.ethtoolWords}
	if arg == "" {
		c.name = s.Knob
		c.pattern = featureAliases[s.Knob]
	}
	if _, err := c.states(); err != nil {
		return nil, err
	}
	return c, nil
}

// ID has the kernel's name, so that gro and feature.rx-gro are the same setting.
func (c *features) ID() string { return settingID(c.place, "feature "+c.pattern) }

func (c *features) states() ([]featureState, error) {
	all, err := featureStates(c.call)
	if err != nil {
		return nil, gone(c.place, fmt.Errorf("read the features of %s (ethtool -k): %w", c.place.Device, err))
	}
	found := matching(all, c.pattern)
	if len(found) == 0 {
		return nil, unavailable("feature "+c.name+" of "+c.place.Device, "find "+c.pattern+" among those of the kernel", "a kernel that has it",
			"list them with ethtool -k "+c.place.Device, nil)
	}
	return found, nil
}

func (c *features) Read(context.Context) (string, error) {
	found, err := c.states()
	if err != nil {
		return "", err
	}
	return featuresText(found), nil
}

// Write refuses before it changes anything where the driver lets nothing be
// changed.
func (c *features) Write(_ context.Context, value string) error {
	found, err := c.states()
	if err != nil {
		return err
	}
	own := changeable(found)
	if len(own) == 0 {
		if c.Equal(featuresText(found), value) {
			return nil
		}
		return unavailable("change of "+c.name+" of "+c.place.Device, fmt.Sprintf("set it %s (ethtool -K)", value),
			"a driver that lets it be changed", fmt.Sprintf("it is fixed %s", fixedState(found)), nil)
	}
	wanted, err := wantedOf(value, own)
	if err != nil {
		return err
	}
	c.restored = ""
	return c.set(wanted)
}

func (c *features) set(wanted map[string]bool) error {
	if err := setFeatures(c.call, wanted); err != nil {
		return gone(c.place, fmt.Errorf("set %s of %s (ethtool -K): %w", c.name, c.place.Device, err))
	}
	return nil
}

// Restore sets what was wanted, of these features alone: those that others need
// become active again when the others do.
func (c *features) Restore(_ context.Context, was string) error {
	found, err := c.states()
	if err != nil {
		return err
	}
	wanted, err := wantedOf(was, changeable(found))
	if err != nil || len(wanted) == 0 {
		return err
	}
	if err := c.set(wanted); err != nil {
		return err
	}
	if found, err = c.states(); err != nil {
		return err
	}
	for _, f := range found {
		if is, meant := wanted[f.name]; meant && is != f.wanted {
			return fmt.Errorf("%s of %s: %s was asked to be %s again and is wanted %s", c.name, c.place.Device, f.name, onOff(is), onOff(f.wanted))
		}
	}
	c.restored = was
	return nil
}

// Equal looks at what is active: a feature that was asked for and is not active
// was ignored. After a Restore what is wanted counts, which that has looked at:
// another feature may be yet to be restored.
func (c *features) Equal(read, asked string) bool {
	if asked == c.restored && asked != "" {
		return true
	}
	if strings.Contains(asked, " ") {
		return read == asked
	}
	is, _, _ := strings.Cut(read, " ")
	return is == asked
}
