package cli

import (
	"strings"
	"testing"

	"netdelta/internal/spec"
)

// Tests beside are listed by themselves, in the order too, and are no change of a
// level.
func TestPlanTextBeside(t *testing.T) {
	const file = "lab: {}\nfactors: {gso: {set: gso, levels: [on, off]}}\ntests: udp_rr\nblocks: 6\nseed: 3\n"
	plain, err := spec.ParseDocument([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	beside, err := spec.ParseDocument([]byte(file + "beside: [wake, wake by=pipe at=same]\n"))
	if err != nil {
		t.Fatal(err)
	}
	with, without := planText(beside, false, true), planText(plain, false, true)
	for _, want := range []string{"  beside    wake by=futex\n            wake by=pipe at=same\n", "6 of 4 trials each: 24"} {
		if !strings.Contains(with, want) {
			t.Errorf("%q is not in\n%s", want, with)
		}
	}
	if n := strings.Count(with, "    beside: wake"); n != 6 {
		t.Errorf("%d slots beside in the order, want 6", n)
	}
	changes := func(text string) string {
		_, after, _ := strings.Cut(text, "  changes ")
		line, _, _ := strings.Cut(after, "\n")
		return line
	}
	if changes(with) != changes(without) || changes(with) == "" {
		t.Errorf("changes %q, without tests beside %q", changes(with), changes(without))
	}
}
