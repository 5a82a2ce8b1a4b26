package result

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// redacted stands for what was left out of a record.
const redacted = "redacted"

// FactHost is the fact that names an end's host.
const FactHost = "host"

// Redacted is a run's record without the names and addresses of its hosts, for a file
// that goes out of the house: in its facts, its target, its command, its notes and its
// warnings. What the machines are, and what was measured, stays.
func Redacted(r Run) Run {
	var names []string
	for _, e := range r.Environments {
		for _, f := range e.Facts {
			if f.Name == FactHost && len(f.Value) > 1 {
				names = append(names, f.Value)
			}
		}
	}
	for _, word := range strings.Fields(r.Target) {
		if word == "lab" {
			continue // a host of our own
		}
		names = append(names, word)
		if host, _, cut := strings.Cut(word, ":"); cut && len(host) > 1 {
			names = append(names, host)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	clean := func(text string) string {
		for _, n := range names {
			text = replaceWord(text, n)
		}
		return addresses.ReplaceAllStringFunc(text, func(m string) string {
			if _, err := netip.ParseAddr(m); err != nil {
				return m
			}
			return redacted
		})
	}
	out := r
	out.Target, out.Command, out.Notes = clean(r.Target), clean(r.Command), clean(r.Notes)
	out.Environments = slices.Clone(r.Environments)
	for i := range out.Environments {
		facts := slices.Clone(out.Environments[i].Facts)
		for j := range facts {
			facts[j].Value = clean(facts[j].Value)
		}
		out.Environments[i].Facts = facts
	}
	out.Warnings = slices.Clone(r.Warnings)
	for i := range out.Warnings {
		out.Warnings[i].Text, out.Warnings[i].Advice = clean(out.Warnings[i].Text), clean(out.Warnings[i].Advice)
	}
	return out
}

// addresses are texts that may be one of IP; what is none is left as it is.
var addresses = regexp.MustCompile(`[0-9A-Fa-f:]*:[0-9A-Fa-f:.]+|\b[0-9]{1,3}(\.[0-9]{1,3}){3}\b`)

// replaceWord replaces a name where it stands by itself, and is no part of a longer
// word.
func replaceWord(text, name string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, name)
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		after := text[i+len(name):]
		b.WriteString(text[:i])
		if i > 0 && isNameByte(text[i-1]) || after != "" && isNameByte(after[0]) {
			b.WriteString(name)
		} else {
			b.WriteString(redacted)
		}
		text = after
	}
}

func isNameByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_'
}
