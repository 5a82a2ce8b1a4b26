package spec

import (
	"slices"
)

// maxFactors is the most factors of a plan file: two levels each make 2^20
// variants of 20, more than are run.
const maxFactors = 20

// factors reads the factors in the file's order.
func (r *reader) factors(n *node, p *Plan) error {
	if n.kind != mapping || len(n.entries) == 0 {
		return n.wrong("factors is a mapping of names to what they set, as in {gro: {set: gro, levels: [on, off]}}, not %s", n.shown())
	}
	if len(n.entries) > maxFactors {
		return n.entries[maxFactors].key.wrong("there are more than %d factors", maxFactors)
	}
	p.Baseline = Variant{}
	for _, e := range n.entries {
		f := Factor{Name: e.key.text}
		if err := checkName(f.Name); err != nil {
			return e.key.wrong("factor %s: %w", quoted(f.Name), err)
		}
		r.mark(e.key, "factors", f.Name)
		baseline, err := r.factor(e.value, &f)
		if err != nil {
			return within(prefixed("factor "+f.Name, err), "factors", f.Name)
		}
		p.Factors = append(p.Factors, f)
		p.Baseline[f.Name] = baseline
	}
	return nil
}

// factor reads one factor and returns its baseline.
func (r *reader) factor(n *node, f *Factor) (baseline string, err error) {
	var set, levels *node
	err = n.fields("it", []field{
		{"set", keep(&set)},
		{"levels", keep(&levels)},
		{"slow", readBool("slow", &f.Slow)},
		{"condition", func(n *node) error {
			r.mark(n, "factors", f.Name, "condition")
			return readBool("condition", &f.Condition)(n)
		}},
		{"baseline", func(n *node) error {
			r.mark(n, "factors", f.Name, "baseline")
			baseline, err = n.word("baseline")
			return err
		}},
	})
	if err != nil {
		return "", err
	}
	if levels == nil {
		return "", n.wrong("it has no levels")
	}
	r.mark(levels, "factors", f.Name, "levels")
	var of *Setting
	if set != nil {
		ref, err := set.word("set")
		if err != nil {
			return "", err
		}
		s, err := ParseRef(ref)
		if err != nil {
			return "", set.wrong("%w", err)
		}
		of = &s
	}
	switch {
	case levels.kind == mapping:
		err = r.namedLevels(levels, of, f)
	case of == nil:
		return "", n.wrong("it does not say what its levels set: add set: KNOB, or make levels a mapping of names to what each sets")
	default:
		err = r.valueLevels(levels, *of, f)
	}
	if err == nil && baseline == "" {
		baseline = f.Levels[0]
	}
	return baseline, err
}

// valueLevels reads levels that are called by the value of the one thing that
// they set.
func (r *reader) valueLevels(n *node, of Setting, f *Factor) error {
	if k, _, _ := of.Row(); k.Scope == OnCommand {
		return n.wrong("commands need names: make levels a mapping, as in {old: {apply: ...}, new: {apply: ...}}")
	}
	items, err := n.words("levels")
	if err != nil {
		return err
	}
	for _, item := range items {
		if err := checkName(item.text); err != nil {
			return item.wrong("level %s: %w (a level with such a value needs a name: make levels a mapping of names to values)", quoted(item.text), err)
		}
		if slices.Contains(f.Levels, item.text) {
			return item.wrong("level %s is named twice (%s%s compares it with itself)", item.text, item.text, Again)
		}
		r.mark(item, "factors", f.Name, "levels", item.text)
		f.Levels = append(f.Levels, item.text)
	}
	if err := f.validateLevels(); err != nil {
		return err
	}
	return f.setValues(of)
}

// namedLevels reads levels that have names: each with the value of the one
// thing, or with all that it sets.
func (r *reader) namedLevels(n *node, of *Setting, f *Factor) error {
	f.Settings = map[string][]Setting{}
	var again []*node
	for _, e := range n.entries {
		l := e.key.text
		if err := checkName(l); err != nil {
			return e.key.wrong("level %s: %w", quoted(l), err)
		}
		if slices.Contains(f.Levels, l) {
			return e.key.wrong("level %s is named twice", l)
		}
		r.mark(e.key, "factors", f.Name, "levels", l)
		f.Levels = append(f.Levels, l)
		if BaseLevel(l) != l && e.value.empty {
			again = append(again, e.key)
			continue
		}
		var err error
		if of != nil {
			s := *of
			err = s.read(e.value, l)
			f.Settings[l] = []Setting{s}
		} else {
			f.Settings[l], err = r.settings(e.value, f.Name, l)
		}
		if err != nil {
			return prefixed("level "+l, err)
		}
	}
	for _, key := range again {
		if err := f.checkAgain(key.text); err != nil {
			return key.wrong("%w", err)
		}
		f.Settings[key.text] = f.Settings[BaseLevel(key.text)]
	}
	return f.validateLevels()
}

// settings reads all that a level sets.
func (r *reader) settings(n *node, factor, level string) ([]Setting, error) {
	if n.kind != mapping {
		return nil, n.wrong("it is a mapping of knobs to values, as in {gro@remote: on}, not %s", n.shown())
	}
	list := []Setting{}
	for _, e := range n.entries {
		s, err := ParseRef(e.key.text)
		if err != nil {
			return nil, e.key.wrong("%w", err)
		}
		if err := s.read(e.value, level); err != nil {
			return nil, err
		}
		r.mark(e.value, "factors", factor, "levels", level, s.Reference())
		list = append(list, s)
	}
	return list, nil
}

// read takes the value of a setting, a text or commands. What commands make is
// called by the level's name.
func (s *Setting) read(n *node, level string) error {
	if k, _, _ := s.Row(); k.Scope == OnCommand {
		s.Value, s.Command = level, &Command{}
		if n.kind == scalar && !n.empty {
			s.Command.Apply = n.text
		} else if err := n.fields("a command", []field{
			{"apply", readCommand("apply", &s.Command.Apply)},
			{"restore", readCommand("restore", &s.Command.Restore)},
			{"check", readCommand("check", &s.Command.Check)},
		}); err != nil {
			return err
		}
	} else if value, err := n.word(s.Knob); err != nil {
		return err
	} else {
		s.Value = value
	}
	if err := s.Validate(); err != nil {
		return n.wrong("%w", err)
	}
	return nil
}

// readCommand reads a command, which may be of several lines.
func readCommand(what string, to *string) func(*node) error {
	return func(n *node) (err error) {
		*to, err = n.word(what)
		return err
	}
}
