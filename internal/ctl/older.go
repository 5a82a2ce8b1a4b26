package ctl

import (
	"errors"
	"fmt"
	"regexp"

	"netdelta/internal/feature"
)

// Sentences in which an agent says that it does not know a part of the settings,
// a test or a knob: what encoding/json and package spec write.
var (
	unknownField = regexp.MustCompile(`unknown field "([^"]*)"`)
	unknownTest  = regexp.MustCompile(`unknown test "([^"]*)"`)
	unknownKnob  = regexp.MustCompile(`unknown knob "([^"]*)"`)
)

// older explains the refusal of settings that the agent's program is too old
// for. Other tests may do with what it knows.
func (c *Client) older(err error) error {
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, ErrInvalid) {
		return err
	}
	for _, what := range []*regexp.Regexp{unknownField, unknownTest, unknownKnob} {
		if m := what.FindStringSubmatch(e.Text); m != nil {
			return &Error{Host: e.Host, Step: e.Step, Kind: feature.ErrUnavailable,
				Text: fmt.Sprintf("the agent there, netdelta %s, does not know %q: install the same version at both ends", c.hello.Version, m[1])}
		}
	}
	return err
}
