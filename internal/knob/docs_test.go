package knob

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"netdelta/internal/spec"
)

// TestKnobsAreDocumented: the table in docs/knobs.md has every knob, and no
// other.
func TestKnobsAreDocumented(t *testing.T) {
	const file = "docs/knobs.md"
	text, err := os.ReadFile("../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("^\\| `([a-z_-]+)(\\.NAME)?` \\|")
	found := map[string]bool{} // with whether something stands behind its name
	for line := range strings.Lines(string(text)) {
		if m := row.FindStringSubmatch(line); m != nil && strings.Count(line, "|") == 5 {
			found[m[1]] = m[2] != ""
		}
	}
	for _, k := range spec.Knobs() {
		if arg, ok := found[k.Name]; !ok || arg != (k.Arg != "") {
			t.Errorf("%s: its table has knob %s %v, with something behind the name %v", file, k.Name, ok, arg)
		}
		delete(found, k.Name)
	}
	for name := range found {
		t.Errorf("%s: its table has %s, which is no knob", file, name)
	}
}
