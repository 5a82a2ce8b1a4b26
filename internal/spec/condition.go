package spec

import (
	"slices"
	"strings"
)

// Split shares a plan's factors out to its conditions and to those whose levels are
// compared, each in their order.
func Split(factors []Factor) (conditions, compared []Factor) {
	for _, f := range factors {
		if f.Condition {
			conditions = append(conditions, f)
		} else {
			compared = append(compared, f)
		}
	}
	return conditions, compared
}

// Of is what a variant has of some factors.
func (v Variant) Of(factors []Factor) Variant {
	part := Variant{}
	for _, f := range factors {
		part[f.Name] = v[f.Name]
	}
	return part
}

// validateConditions is about what is left to compare within conditions.
func (p *Plan) validateConditions() error {
	conditions, compared := Split(p.Factors)
	if len(compared) == 0 {
		last := conditions[len(conditions)-1].Name
		return faultAt(at("factors", last, "condition"), "every factor is a condition, so nothing would be compared: make one of %s none", nameList(conditions))
	}
	return nil
}

// validateWithin is about chosen variants of a plan with conditions: the same ones
// of the other factors within each combination of the conditions' levels that there
// is, so that what they can tell is the same in all.
func (p *Plan) validateWithin() error {
	conditions, compared := Split(p.Factors)
	if len(conditions) == 0 {
		return nil
	}
	var order []string
	chosen := map[string][]string{}
	for _, v := range p.Chosen {
		key := v.Key(conditions)
		if chosen[key] == nil {
			order = append(order, key)
		}
		chosen[key] = append(chosen[key], v.Key(compared))
	}
	first := order[0]
	for _, key := range order[1:] {
		for _, pair := range [][2]string{{first, key}, {key, first}} {
			for _, v := range chosen[pair[0]] {
				if !slices.Contains(chosen[pair[1]], v) {
					return faultAt(at("variants"), "%q is chosen with %s and not with %s: within each condition the same variants are compared", v, pair[0], pair[1])
				}
			}
		}
	}
	return nil
}

func nameList(factors []Factor) string {
	names := make([]string, len(factors))
	for i, f := range factors {
		names[i] = f.Name
	}
	return strings.Join(names, ", ")
}
