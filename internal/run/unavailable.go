package run

import (
	"errors"
	"io/fs"

	"netdelta/internal/ctl"
	"netdelta/internal/feature"
	"netdelta/internal/result"
)

// unavailable is why a trial can't be had on these hosts, if that is what a
// host's error says: its kernel, device or user lacks something that the test
// asks for. Trying again would not help, and other tests can go on.
func unavailable(err error) *result.Warning {
	var step *ctl.Error
	if !errors.As(err, &step) {
		return nil
	}
	switch {
	case errors.Is(err, feature.ErrUnavailable):
		return &result.Warning{Code: CodeUnavailable, Text: step.Error(),
			Advice: "leave it out or change it (--tests), or see to what it needs"}
	case errors.Is(err, fs.ErrPermission) && (step.Step == "prepare" || step.Step == "arm"):
		// Later it is no privilege but a firewall, which may let the next try through.
		return &result.Warning{Code: CodeUnavailable, Text: step.Error(),
			Advice: "run with that privilege at that end, or leave it out (--tests)"}
	}
	return nil
}
