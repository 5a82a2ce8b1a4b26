package spec

import (
	"fmt"
	"strings"
)

// knobs is the table.
var knobs = []Knob{}

func knobOf(name string) (Knob, string, error) {
	base, arg, _ := strings.Cut(name, ".")
	for _, k := range knobs {
		if k.Name == base && (k.Arg != "") == (arg != "") {
			return k, arg, nil
		}
	}
	return Knob{}, "", fmt.Errorf("%q is no knob", name)
}
