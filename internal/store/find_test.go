package store

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"netdelta/internal/result"
)

func TestNearest(t *testing.T) {
	labels := []string{"old", "new", "before-patch", "after-patch", "", "kernel 6.18", "kernel 6.12"}
	for _, c := range []struct {
		text string
		want []string
	}{
		{"odl", []string{"old"}},
		{"OLD", []string{"old"}},
		{"nwe", []string{"new"}},
		{"patch", []string{"after-patch", "before-patch"}},
		{"kernel 6.19", []string{"kernel 6.12", "kernel 6.18"}},
		{"befor-patch", []string{"before-patch"}},
		{"something else entirely", nil},
		{"", nil},
	} {
		if got := nearest(c.text, labels, 2); !slices.Equal(got, c.want) {
			t.Errorf("nearest to %q are %q, want %q", c.text, got, c.want)
		}
	}
}

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"old", "odl", 1}, {"abcd", "badc", 2},
		{"grün", "grun", 1}, {"same", "same", 0}, {"abc", "bca", 2},
	} {
		if got := edits(c.a, c.b); got != c.want {
			t.Errorf("from %q to %q are %d edits, want %d", c.a, c.b, got, c.want)
		}
	}
}

func FuzzEdits(f *testing.F) {
	f.Add("kitten", "sitting")
	f.Add("", "\xff")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 200 || len(b) > 200 {
			return
		}
		d, back := edits(a, b), edits(b, a)
		la, lb := utf8.RuneCountInString(a), utf8.RuneCountInString(b)
		if d != back || d > max(la, lb) || d < max(la-lb, lb-la) {
			t.Errorf("%q to %q are %d edits, back %d", a, b, d, back)
		}
		if valid := utf8.ValidString(a) && utf8.ValidString(b); valid && (d == 0) != (a == b) {
			t.Errorf("%q and %q are %d edits apart", a, b, d)
		}
		nearest(a, []string{b, a}, 3)
	})
}

func TestDefaultPath(t *testing.T) {
	for _, c := range []struct {
		name, system, data, home, want string
	}{
		{"data directory", "linux", "/d", "/home/u", "/d/netdelta/netdelta.db"},
		{"home", "linux", "", "/home/u", "/home/u/.local/share/netdelta/netdelta.db"},
		{"a relative one is ignored", "linux", "d", "/home/u", "/home/u/.local/share/netdelta/netdelta.db"},
		{"data directory without a home", "freebsd", "/d", "", "/d/netdelta/netdelta.db"},
		{"macOS", "darwin", "/d", "/Users/u", "/Users/u/Library/Application Support/netdelta/netdelta.db"},
		{"nothing", "linux", "", "", ""},
		{"a relative home", "linux", "", "u", ""},
	} {
		env := map[string]string{"XDG_DATA_HOME": c.data, "HOME": c.home}
		got, err := defaultPath(c.system, func(name string) string { return env[name] })
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
		if err != nil && !strings.Contains(err.Error(), "--store") {
			t.Errorf("%s: the error does not say what to do: %v", c.name, err)
		}
	}
}

func TestNewID(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id := NewID()
		if normal, ok := result.NormalRunID(id); !ok || normal != id || seen[id] {
			t.Fatalf("id %q is no id, or came before", id)
		}
		seen[id] = true
	}
}
