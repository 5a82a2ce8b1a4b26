package result

import (
	"slices"

	"netdelta/internal/spec"
)

// MetricNames returns the names of all metrics that tests of a kind can have,
// whatever their parameters, each once; of all tests if the name is empty. It
// is nil for a test that there is not.
func MetricNames(test string) []string {
	var names []string
	for _, k := range spec.Kinds() {
		if test != "" && k.Name != test {
			continue
		}
		for _, d := range tables {
			if slices.Contains(d.patterns, k.Pattern) && (d.protocols == nil || slices.Contains(d.protocols, k.Protocol)) && !slices.Contains(names, d.Name) {
				names = append(names, d.Name)
			}
		}
	}
	return names
}
