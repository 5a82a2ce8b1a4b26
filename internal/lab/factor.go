package lab

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/spec"
)

// chosen is the factor with the levels that are asked for, and its baseline: the
// given one, else the usual one if it is among them, else the first.
func (f *factor) chosen(levels []string, baseline string) (spec.Factor, string, error) {
	if len(levels) == 0 {
		levels = f.usual
	}
	one := spec.Factor{Name: f.name, Levels: levels, Condition: f.condition, Settings: map[string][]spec.Setting{}}
	for _, l := range levels {
		settings, err := f.set(spec.BaseLevel(l))
		if err != nil {
			return one, "", fmt.Errorf("unknown level %q of %s%s: %w", l, f.name, f.on, err)
		}
		one.Settings[l] = settings
	}
	switch {
	case baseline == "" && len(f.usual) > 0 && slices.Contains(levels, f.usual[0]):
		baseline = f.usual[0]
	case baseline == "" && len(levels) > 0:
		baseline = levels[0]
	}
	return one, baseline, nil
}

// set are the settings of a level; an error says what levels there are.
func (f *factor) set(level string) ([]spec.Setting, error) {
	if f.valid != nil && !slices.Contains(f.valid, level) {
		return nil, fmt.Errorf("valid are %s", f.Written())
	}
	settings, err := f.settings(level)
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		if err := s.Validate(); err != nil {
			return nil, err
		}
	}
	return settings, nil
}

// Written are the levels that there are, for messages: "off, N/TIME".
func (f *factor) Written() string {
	all := f.valid
	if all == nil {
		all = f.forms
	}
	return fmt.Sprintf("%s (and NAME%s, to compare one with itself)", strings.Join(all, ", "), spec.Again)
}

// onLink is a setting of the lab's link.
func onLink(knob, value string) spec.Setting {
	return spec.Setting{End: spec.EndBoth, Knob: knob, Value: value}
}

// onTest is a setting of a parameter of the tests.
func onTest(param, value string) spec.Setting {
	return spec.Setting{End: spec.EndBoth, Knob: "param." + param, Value: value}
}

// onWire is a setting of the lab's own wire.
func onWire(name, value string) spec.Setting { return onLink("wire."+name, value) }

// clashes reports what the options give of the link that a factor sets: the factor
// has the last word, so it would say nothing.
func (o *Options) clashes(experiment string, factors []spec.Factor) error {
	given := map[string]string{}
	if o.Context != "" {
		given[knobContext] = o.Context
	}
	for _, part := range strings.Split(o.Wire.String(), ",") {
		if name, value, ok := strings.Cut(part, "="); ok {
			given["wire."+name] = value
		}
	}
	for _, f := range factors {
		for _, s := range f.Settings[f.Levels[0]] {
			if v, ok := given[s.Knob]; ok {
				return fmt.Errorf("%s %s is given, and %s varies that itself: leave it out, or choose --levels of %s", s.Knob, v, experiment, f.Name)
			}
		}
	}
	return nil
}
