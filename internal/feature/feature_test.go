package feature_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"netdelta/internal/feature"
)

func TestErrorSaysWhatToDo(t *testing.T) {
	cause := os.ErrPermission
	var err error = &feature.Error{
		Feature: "user namespaces", Tried: "clone a child", Need: "leave", Advice: "run as root",
		Kernel: "Linux 6.1", Err: cause,
	}
	if !errors.Is(err, feature.ErrUnavailable) || !errors.Is(err, cause) {
		t.Errorf("%v is neither ErrUnavailable nor its cause", err)
	}
	const want = "no user namespaces: tried to clone a child on Linux 6.1: permission denied; needs leave; run as root"
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}

// TestTable holds for every probe, whatever it answers here.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range feature.All {
		if p.Name == "" || p.For == "" || seen[p.Name] {
			t.Errorf("probe %q for %q: names must be there and differ", p.Name, p.For)
		}
		seen[p.Name] = true
		err := p.Err()
		if again := p.Err(); again != err {
			t.Errorf("%s: first %v, then %v", p.Name, err, again)
		}
		if err == nil {
			continue
		}
		t.Log(err)
		var e *feature.Error
		if !errors.As(err, &e) || !errors.Is(err, feature.ErrUnavailable) {
			t.Fatalf("%s: %v is no *feature.Error", p.Name, err)
		}
		if e.Feature != p.Name || e.Tried == "" || e.Need == "" || e.Kernel == "" {
			t.Errorf("%s: something is missing in %#v", p.Name, e)
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: more than one line: %q", p.Name, err)
		}
	}
}

func TestParseRelease(t *testing.T) {
	for _, c := range []struct {
		text         string
		major, minor int
		ok           bool
	}{
		{"6.18.44-fc-v669", 6, 18, true},
		{"5.10.0-8-amd64", 5, 10, true},
		{"4.18", 4, 18, true},
		{"6.1+", 6, 1, true},
		{"", 0, 0, false},
		{"6", 0, 0, false},
		{"6.", 0, 0, false},
		{".6", 0, 0, false},
		{"-6.1", 0, 0, false},
		{"next-20250101", 0, 0, false},
		{"99999999999999999999.1", 0, 0, false},
	} {
		r, err := feature.ParseRelease("Linux", c.text)
		if (err == nil) != c.ok || r.Major != c.major || r.Minor != c.minor || r.Text != c.text {
			t.Errorf("%q: got %+v, %v", c.text, r, err)
		}
	}
}

func TestAtLeast(t *testing.T) {
	r, err := feature.ParseRelease("Linux", "5.12.3")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		major, minor int
		want         bool
	}{{4, 20, true}, {5, 11, true}, {5, 12, true}, {5, 13, false}, {6, 0, false}} {
		if got := r.AtLeast(c.major, c.minor); got != c.want {
			t.Errorf("5.12.3 at least %d.%d: %v", c.major, c.minor, got)
		}
	}
}

func FuzzParseRelease(f *testing.F) {
	for _, s := range []string{"6.18.44-fc", "4.18", "x", "1.", "٣.٤"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := feature.ParseRelease("Linux", s)
		if err != nil && (r.Major != 0 || r.Minor != 0) {
			t.Errorf("%q: %+v beside error %v", s, r, err)
		}
		if r.Major < 0 || r.Minor < 0 || r.Text != s {
			t.Errorf("%q: %+v", s, r)
		}
		if err == nil && !r.AtLeast(r.Major, r.Minor) {
			t.Errorf("%q is not at least itself", s)
		}
	})
}
