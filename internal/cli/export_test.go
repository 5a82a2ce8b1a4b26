package cli

import "strings"

// HelpExample is one line of a command's examples.
type HelpExample struct{ Command, Line string }

// AllExamples are those that --help shows, of every command in the order of their names.
func AllExamples() []HelpExample {
	var all []HelpExample
	for _, c := range commands(newRoot(nil)) {
		for _, l := range strings.Split(c.Example, "\n") {
			if l = strings.TrimSpace(l); l != "" {
				all = append(all, HelpExample{strings.TrimPrefix(c.CommandPath(), "netdelta "), l})
			}
		}
	}
	return all
}
