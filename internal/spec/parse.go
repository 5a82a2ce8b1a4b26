package spec

import (
	"fmt"
	"slices"
	"strings"
)

// ParseTests reads a comma-separated list of tests, each a name and its
// parameters separated by blanks: "udp_rr size=1,tcp_stream size=128KiB". A
// size may be a list or a sweep as ParseSizes reads them, for a test of each:
// "udp_rr size=64,256,tcp_rr size=1..1MiB*2". A test that has no size of its
// own is crossed with sizes, if there are any.
func ParseTests(list string, sizes []int) ([]Test, error) {
	var tests []Test
	for _, item := range splitTests(list) {
		t, own, err := parseTest(item)
		if err != nil {
			return nil, err
		}
		crossed := []Test{t}
		switch p := t.Params; {
		case len(own) > 0:
			crossed = cross(t, own)
		case len(sizes) > 0 && p.Size == 0 && p.Request == 0 && p.Response == 0 && slices.Contains(t.Kind().Accepts, "size"):
			crossed = cross(t, sizes)
		}
		for _, c := range crossed {
			if err := c.complete(); err != nil {
				return nil, err
			}
			if slices.Contains(tests, c) {
				return nil, fmt.Errorf("test %q is named twice", c)
			}
			tests = append(tests, c)
		}
	}
	return tests, nil
}

// cross is the test with each of the sizes.
func cross(t Test, sizes []int) []Test {
	crossed := make([]Test, len(sizes))
	for i, s := range sizes {
		crossed[i] = t
		crossed[i].Params.Size = s
	}
	return crossed
}

// splitTests cuts a list at its commas but for those within a list of sizes:
// what begins with a digit is no test.
func splitTests(list string) []string {
	var items []string
	for _, item := range strings.Split(list, ",") {
		if word := strings.TrimSpace(item); len(items) > 0 && word != "" && word[0] >= '0' && word[0] <= '9' {
			items[len(items)-1] += "," + word
			continue
		}
		items = append(items, item)
	}
	return items
}

// parseTest reads one test. More than one size is returned apart.
func parseTest(item string) (t Test, sizes []int, err error) {
	words := strings.Fields(item)
	if len(words) == 0 {
		return t, nil, fmt.Errorf("empty test name: valid are %s", strings.Join(TestNames(), ", "))
	}
	t = Test{Name: words[0]}
	k, ok := KindOf(t.Name)
	if !ok {
		return t, nil, t.complete()
	}
	for _, w := range words[1:] {
		name, value, found := strings.Cut(w, "=")
		p, known := paramOf(name)
		if !found || !known {
			return t, nil, fmt.Errorf("test %s: %q is no parameter: write NAME=VALUE with one of %s",
				t.Name, w, strings.Join(k.Accepts, ", "))
		}
		if p.get(&t.Params) != "" || name == "size" && len(sizes) > 0 {
			return t, nil, fmt.Errorf("test %s: %s is given twice", t.Name, name)
		}
		if !slices.Contains(k.Accepts, name) {
			return t, nil, fmt.Errorf("test %s takes no %s: it takes %s", t.Name, name, strings.Join(k.Accepts, ", "))
		}
		if name == "size" && (strings.Contains(value, ",") || strings.Contains(value, sweepSign)) {
			if sizes, err = parseSizes(value, k.MaxSize); err != nil {
				return t, nil, fmt.Errorf("test %s: size: %w", t.Name, err)
			}
			if len(sizes) == 1 {
				t.Params.Size, sizes = sizes[0], nil
			}
			continue
		}
		if err := p.set(&t.Params, k, value); err != nil {
			return t, nil, err
		}
	}
	return t, sizes, nil
}
