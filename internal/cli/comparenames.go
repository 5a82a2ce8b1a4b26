package cli

import (
	"path/filepath"
	"slices"
	"strings"
)

// distinctNames are short names for files: the parts of their names that differ, or
// their whole names where that leaves one without any, or two alike.
func distinctNames(files []string) []string {
	all := make([][]string, len(files))
	for i, f := range files {
		all[i] = pieces(strings.TrimSuffix(filepath.ToSlash(filepath.Clean(f)), filepath.Ext(f)))
	}
	if len(files) < 2 {
		return []string{strings.Join(all[0], "")}
	}
	short := func(n int) bool { return slices.ContainsFunc(all, func(p []string) bool { return len(p) < n }) }
	same := func(at func([]string) string) bool {
		return !slices.ContainsFunc(all, func(p []string) bool { return at(p) != at(all[0]) })
	}
	head, tail := 0, 0
	for !short(head+1) && same(func(p []string) string { return p[head] }) {
		head++
	}
	for !short(head+tail+1) && same(func(p []string) string { return p[len(p)-1-tail] }) {
		tail++
	}
	var names []string
	for _, p := range all {
		name := strings.Trim(strings.Join(p[head:len(p)-tail], ""), "/-_. ")
		if name == "" || slices.Contains(names, name) {
			return wholeNames(files)
		}
		names = append(names, name)
	}
	return names
}

// wholeNames are the files' names without their folders where those differ.
func wholeNames(files []string) []string {
	var names []string
	for _, f := range files {
		if slices.Contains(names, filepath.Base(f)) {
			return slices.Clone(files)
		}
		names = append(names, filepath.Base(f))
	}
	return names
}

// pieces cuts a name before and behind what people put between its parts.
func pieces(name string) []string {
	var all []string
	last := 0
	for i, r := range name {
		if strings.ContainsRune("/-_. ", r) {
			all = append(all, name[last:i], name[i:i+1])
			last = i + 1
		}
	}
	all = append(all, name[last:])
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}
