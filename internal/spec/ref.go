package spec

import (
	"fmt"
	"slices"
	"strings"
)

// maxReference is the longest reference in bytes: a device, a knob, an end.
const maxReference = 512

// ParseRef reads what a setting is of, "[DEVICE.]KNOB[.ARG][@END]", as in gro,
// eth0.100.gro@remote or sysctl.net.ipv4.tcp_rmem, and returns the setting
// without its value. A device's name may have dots: where it ends is known by
// the table of knobs.
func ParseRef(ref string) (Setting, error) {
	if len(ref) > maxReference {
		return Setting{}, fmt.Errorf("%s is longer than %d bytes", quoted(ref), maxReference)
	}
	s := Setting{End: EndBoth, Knob: ref}
	if i := strings.LastIndexByte(ref, '@'); i >= 0 {
		s.Knob, s.End = ref[:i], ref[i+1:]
		if err := oneOf([]string{EndLocal, EndRemote, EndBoth})(s.End); err != nil {
			return Setting{}, fmt.Errorf("end %w", err)
		}
	}
	s.Device, s.Knob = splitDevice(s.Knob)
	k, _, err := s.Row()
	if err != nil {
		return Setting{}, err
	}
	if s.End != EndBoth && (k.Scope == OnTest || k.Scope == OnLink) {
		return Setting{}, fmt.Errorf("knob %s: both ends share it, leave @%s out", s.Knob, s.End)
	}
	if err := s.checkDevice(k); err != nil {
		return Setting{}, fmt.Errorf("knob %s: %w", s.Knob, err)
	}
	return s, nil
}

// splitDevice cuts a device from the knob behind it, at the first dot that a
// knob's name follows. What begins with a knob's name has no device.
func splitDevice(s string) (device, knob string) {
	for from := 0; ; {
		base, _, dotted := strings.Cut(s[from:], ".")
		if slices.ContainsFunc(knobs, func(k Knob) bool { return k.Name == base }) {
			return s[:max(from-1, 0)], s[from:]
		}
		if !dotted {
			return "", s
		}
		from += len(base) + 1
	}
}

// ParseSet reads a factor as a command line has it,
// NAME=[DEVICE.]KNOB[.ARG][@END]:V1,V2. The first value is the baseline's. Levels
// are called by their values, and V-again is V a second time, so that it can be
// compared with itself.
func ParseSet(s string) (Factor, error) {
	const form = "write NAME=[DEVICE.]KNOB[.ARG][@END]:V1,V2, as in rx=eth0.gro@remote:on,off"
	name, rest, ok := strings.Cut(s, "=")
	if !ok {
		return Factor{}, fmt.Errorf("%s is no factor: %s", quoted(s), form)
	}
	ref, list, ok := strings.Cut(rest, ":")
	if !ok {
		return Factor{}, fmt.Errorf("%s has no values: %s", quoted(s), form)
	}
	if err := checkName(name); err != nil {
		return Factor{}, fmt.Errorf("factor %s: %w", quoted(name), err)
	}
	of, err := ParseRef(ref)
	if err != nil {
		return Factor{}, fmt.Errorf("factor %s: %w", name, err)
	}
	if k, _, _ := of.Row(); k.Scope == OnCommand {
		return Factor{}, fmt.Errorf("factor %s: commands can't be written so: use a plan file", name)
	}
	f := Factor{Name: name, Levels: strings.Split(list, ",")}
	if err := f.validateLevels(); err != nil {
		if strings.ContainsAny(list, " =") {
			err = fmt.Errorf("%w (a value with blanks, commas or = needs a plan file)", err)
		}
		return Factor{}, fmt.Errorf("factor %s: %w", name, err)
	}
	if err := f.setValues(of); err != nil {
		return Factor{}, fmt.Errorf("factor %s: %w", name, err)
	}
	return f, nil
}

// setValues has each level set the one thing to the value that it is called by.
func (f *Factor) setValues(of Setting) error {
	f.Settings = map[string][]Setting{}
	for _, l := range f.Levels {
		if err := f.checkAgain(l); err != nil {
			return err
		}
		of.Value = BaseLevel(l)
		if err := of.Validate(); err != nil {
			return faultAt(at("levels", l), "level %s: %w", l, err)
		}
		f.Settings[l] = []Setting{of}
	}
	return nil
}

// checkAgain holds a level that is another's second name to one that is there.
func (f *Factor) checkAgain(level string) error {
	if base := BaseLevel(level); base != level && !slices.Contains(f.Levels, base) {
		return faultAt(at("levels", level), "level %s is %s a second time, and there is no %s", level, base, base)
	}
	return nil
}
