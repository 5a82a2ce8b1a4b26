package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Again marks a level that is another level under a second name, so that a
// thing can be compared with itself: "softirq-again".
const Again = "-again"

// BaseLevel is the level that a name stands for.
func BaseLevel(level string) string { return strings.TrimSuffix(level, Again) }

// Reference is the setting without its value, as a user writes it:
// "eth0.gro@remote".
func (s Setting) Reference() string {
	ref := s.Knob
	if s.Device != "" {
		ref = s.Device + "." + ref
	}
	if s.End != EndBoth && s.End != "" {
		ref += "@" + s.End
	}
	return ref
}

// atoms are what a setting sets at each end, as references. That of a test's
// parameter, or of the link, is one for both.
func (s Setting) atoms() []string {
	k, _, err := s.Row()
	if s.End != EndBoth || err == nil && (k.Scope == OnTest || k.Scope == OnLink) {
		return []string{s.Reference()}
	}
	local, remote := s, s
	local.End, remote.End = EndLocal, EndRemote
	return []string{local.Reference(), remote.Reference()}
}

// validateSettings checks what the levels set, and that each sets the same
// things: what only one of them set would stay as it is under the next. It
// returns the references, sorted.
func (f *Factor) validateSettings() ([]string, error) {
	if f.Settings == nil {
		return nil, nil
	}
	for _, l := range slices.Sorted(maps.Keys(f.Settings)) {
		if !slices.Contains(f.Levels, l) {
			return nil, faultAt(at("levels"), "there are settings of %s, which is no level: valid are %s", quoted(l), strings.Join(f.Levels, ", "))
		}
	}
	first := map[string]bool{}
	for i, l := range f.Levels {
		own := map[string]bool{}
		for _, s := range f.Settings[l] {
			where := at("levels", l, s.Reference())
			if err := s.Validate(); err != nil {
				return nil, within(fmt.Errorf("level %s: %w", l, err), where...)
			}
			for _, ref := range s.atoms() {
				if own[ref] {
					return nil, faultAt(where, "level %s sets %s twice", l, ref)
				}
				own[ref] = true
			}
		}
		if i == 0 {
			first = own
			continue
		}
		if err := sameReferences(f.Levels[0], l, first, own); err != nil {
			return nil, err
		}
	}
	if len(first) == 0 {
		return nil, faultAt(at("levels"), "its levels set nothing")
	}
	return slices.Sorted(maps.Keys(first)), nil
}

// sameReferences reports what one of two levels sets and the other does not.
func sameReferences(a, b string, as, bs map[string]bool) error {
	for _, c := range []struct {
		has, lacks     string
		hasSet, lackIt map[string]bool
	}{{a, b, as, bs}, {b, a, bs, as}} {
		for _, ref := range slices.Sorted(maps.Keys(c.hasSet)) {
			if !c.lackIt[ref] {
				return faultAt(at("levels", c.lacks), "level %s does not say what %s is, which level %s sets: it would stay as it is", c.lacks, ref, c.has)
			}
		}
	}
	return nil
}
