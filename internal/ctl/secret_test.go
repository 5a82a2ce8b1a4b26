package ctl

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const sample = "7xk2m9qp4tzw8vbn3hcd6fgj5rsy0ea1" // 32 characters

func mustSecret(t testing.TB, text string) Secret {
	t.Helper()
	s, err := ParseSecret(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNewSecret(t *testing.T) {
	seen := map[string]bool{}
	count := map[byte]int{}
	for range 500 {
		text := NewSecret().Reveal()
		if len(text) != newSecret || len(text)*5 < 160 {
			t.Fatalf("%q has %d characters", text, len(text))
		}
		if got := mustSecret(t, text).Reveal(); got != text {
			t.Fatalf("%q is read as %q", text, got)
		}
		if seen[text] {
			t.Fatalf("%q was drawn twice", text)
		}
		seen[text] = true
		for i := range len(text) {
			count[text[i]]++
		}
	}
	// 16000 characters, 500 of each to be expected, with a deviation of 22.
	for i := range len(secretAlphabet) {
		if n := count[secretAlphabet[i]]; n < 350 || n > 650 {
			t.Errorf("character %c came %d times, want about 500", secretAlphabet[i], n)
		}
	}
}

func TestParseSecret(t *testing.T) {
	for _, c := range []struct {
		name, text, want string // want is the text, or part of the error
		ok               bool
	}{
		{"plain", sample, sample, true},
		{"shortest", sample[:26], sample[:26], true},
		{"upper", strings.ToUpper(sample), sample, true},
		{"groups", "7XK2-m9qp 4tzw\t8vbn-3hcd\n6fgj 5rsy 0ea1\r\n", sample, true},
		{"look-alikes", strings.NewReplacer("0", "O", "1", "l").Replace(sample), sample, true},
		{"other look-alikes", strings.NewReplacer("0", "o", "1", "I").Replace(sample), sample, true},
		{"empty", "", "is empty", false},
		{"blank", " \n\t", "is empty", false},
		{"short", sample[:25], "has 25 characters (125 bits), at least 26 (128 bits)", false},
		{"short with blanks", strings.Repeat(sample[:5]+" ", 5), "has 25 characters", false},
		{"long", strings.Repeat(sample, 17), "has 544 characters, at most 512", false},
		{"very long", strings.Repeat(" ", 5000), "more than 512", false},
		{"u", "u" + sample, "character (at 1)", false},
		{"base64", "q8/5Vx0Z+7c1f2aB3k4L5m6N7p8Q9r==", "netdelta secret", false},
		{"letters of other scripts", sample + "ß", "character (at 33)", false},
		{"placeholder", strings.Repeat("a", 32), "only 1 different", false},
		{"another", strings.Repeat("changeme", 4), "only 7 different", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := ParseSecret(c.text)
			if c.ok {
				if err != nil || s.Reveal() != c.want || s.IsZero() {
					t.Errorf("got %q, error %v, want %q", s.Reveal(), err, c.want)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !s.IsZero() {
				t.Fatalf("got error %v, want one with %q", err, c.want)
			}
			if strings.Contains(err.Error(), "\n") || len(c.text) > 8 && strings.Contains(err.Error(), c.text[:8]) {
				t.Errorf("error %q shows the secret or has several lines", err)
			}
		})
	}
}

// However a secret is grouped and whatever case it has, it is the same.
func TestSecretFormsAreOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune(secretAlphabet)), minSecret, maxSecret, -1).Draw(t, "text")
		var form strings.Builder
		for _, r := range text {
			form.WriteString(rapid.SampledFrom([]string{"", "", "", " ", "-", "\n"}).Draw(t, "blank"))
			if rapid.Bool().Draw(t, "upper") {
				form.WriteString(strings.ToUpper(string(r)))
			} else {
				form.WriteRune(r)
			}
		}
		s, err := ParseSecret(form.String())
		if err != nil {
			if strings.Contains(err.Error(), "different characters") || len(form.String()) > 2*maxSecret {
				return
			}
			t.Fatal(err)
		}
		if s.Reveal() != text {
			t.Fatalf("got %q, want %q", s.Reveal(), text)
		}
	})
}

// No way of printing shows a secret.
func TestSecretIsNotPrinted(t *testing.T) {
	s := mustSecret(t, sample)
	nested := struct {
		tcp   TCP
		plain *Secret
	}{TCP{Addr: "h", Secret: s}, &s}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		for _, v := range []any{s, &s, TCP{Addr: "h", Secret: s}, nested, &nested} {
			if got := fmt.Sprintf(format, v); strings.Contains(got, sample[:6]) || strings.Contains(got, fmt.Sprintf("%x", sample[:6])) {
				t.Errorf("%s of %T shows the secret: %s", format, v, got)
			}
		}
	}
	if data, err := json.Marshal(TCP{Secret: s}); err != nil || strings.Contains(string(data), sample[:6]) {
		t.Errorf("JSON: %s, %v", data, err)
	}
	if got := s.String() + (Secret{}).String(); got != "a secretno secret" {
		t.Errorf("got %q", got)
	}
}

func FuzzParseSecret(f *testing.F) {
	f.Add(sample)
	f.Add(" o0iIlL-")
	f.Add("\xff\xfeK")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSecret(text)
		if err != nil {
			if !s.IsZero() {
				t.Fatalf("%q: a secret beside error %v", text, err)
			}
			return
		}
		plain := s.Reveal()
		if len(plain) < minSecret || len(plain) > maxSecret || strings.Trim(plain, secretAlphabet) != "" {
			t.Fatalf("%q is read as %q", text, plain)
		}
		if again, err := ParseSecret(plain); err != nil || again.Reveal() != plain {
			t.Fatalf("%q is read as %q, and that as %q, %v", text, plain, again.Reveal(), err)
		}
	})
}

func TestLoadSecret(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	other := strings.ToUpper(sample[4:])
	for _, c := range []struct {
		name, file, env string
		want            string // the secret
		err             string
	}{
		{name: "file", file: write("good", sample+"\n", 0o600), want: sample},
		{name: "read-only", file: write("readonly", sample, 0o400), want: sample},
		{name: "environment", env: other, want: sample[4:]},
		{name: "file before environment", file: write("both", sample, 0o600), env: other, want: sample},
		{name: "neither", err: ErrNoSecret.Error()},
		{name: "bad environment", env: "hunter2", err: SecretEnv + ": "},
		{name: "no file", file: filepath.Join(dir, "none"), env: other, err: "no such file"},
		{name: "directory", file: dir, err: "is a directory"},
		{name: "empty", file: write("empty", "\n", 0o600), err: "is empty"},
		{name: "short", file: write("short", "abc", 0o600), err: "short: the secret has 3 characters"},
		{name: "large", file: write("large", strings.Repeat(sample+"\n", 4000), 0o600), err: "more than 512"},
		{name: "for all", file: write("all", sample, 0o644), err: "chmod 600 "},
		{name: "for the group", file: write("group", sample, 0o640), err: "mode 0640, so others can read or change"},
		{name: "writable", file: write("writable", sample, 0o602), err: "chmod 600 "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(SecretEnv, c.env)
			s, err := LoadSecret(c.file)
			if s.Reveal() != c.want {
				t.Errorf("got %q, want %q", s.Reveal(), c.want)
			}
			switch {
			case c.err == "" && err != nil:
				t.Error(err)
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("got error %v, want one with %q", err, c.err)
			}
			if (c.err == ErrNoSecret.Error()) != errors.Is(err, ErrNoSecret) {
				t.Errorf("got error %v, is it %v?", err, ErrNoSecret)
			}
		})
	}
}

// A pipe from a password store is as good as a file.
func TestLoadSecretFromPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString(sample); err != nil {
		t.Fatal(err)
	}
	w.Close()
	s, err := LoadSecret(fmt.Sprintf("/dev/fd/%d", r.Fd()))
	if err != nil || s.Reveal() != sample {
		t.Errorf("got %q, error %v", s.Reveal(), err)
	}
}

// Whose file it is decides what its group may do.
func TestPrivate(t *testing.T) {
	const me, root = 1000, 0
	for _, c := range []struct {
		mode  fs.FileMode
		owner uint32
		ok    bool
	}{
		{0o600, me, true}, {0o400, me, true}, {0o640, me, false}, {0o620, me, false}, {0o604, me, false},
		{0o640, root, true}, {0o440, root, true}, {0o644, root, false}, {0o641, root, false},
	} {
		err := private("s", fileInfo{c.mode, c.owner}, me)
		if (err == nil) != c.ok {
			t.Errorf("mode %04o of user %d: got %v", c.mode, c.owner, err)
		}
	}
}

type fileInfo struct {
	mode  fs.FileMode
	owner uint32
}

func (fileInfo) Name() string        { return "s" }
func (fileInfo) Size() int64         { return 0 }
func (f fileInfo) Mode() fs.FileMode { return f.mode }
func (fileInfo) ModTime() time.Time  { return time.Time{} }
func (fileInfo) IsDir() bool         { return false }
func (f fileInfo) Sys() any          { return &syscall.Stat_t{Uid: f.owner} }
