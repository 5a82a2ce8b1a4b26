package result

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// bundled are two runs with trials, and one without any.
func bundled(t testing.TB) []Bundled {
	t.Helper()
	a, b := exportedRun(), exportedRun()
	b.ID, b.Label = "b234567890", "new"
	empty := exportedRun()
	empty.ID = "c234567890"
	return []Bundled{{a, []Trial{sample(t), sample(t)}}, {b, []Trial{sample(t)}}, {Run: empty}}
}

func TestBundleIsReadBack(t *testing.T) {
	want := bundled(t)
	data, err := EncodeBundle(want)
	if err != nil {
		t.Fatal(err)
	}
	again, err := EncodeBundle(want)
	if err != nil || !bytes.Equal(data, again) {
		t.Errorf("the same runs make another file: %v", err)
	}
	if !IsBundle(data) || IsBundle([]byte("{}")) || IsBundle(nil) {
		t.Error("a bundle is not known by its beginning")
	}
	got, err := DecodeBundle(data)
	if err != nil {
		t.Fatal(err)
	}
	set := func(all []Bundled) {
		for i := range all {
			all[i].Run.Schema = RunSchema
			for j := range all[i].Trials {
				all[i].Trials[j].Schema = Schema
			}
		}
	}
	set(want)
	if d := cmp.Diff(want, got, equal); d != "" {
		t.Errorf("it is read back with a difference:\n%s", d)
	}
}

// Whatever end of a bundle is missing, that is what is said, and no run is returned.
func TestBundleCutOff(t *testing.T) {
	data, err := EncodeBundle(bundled(t))
	if err != nil {
		t.Fatal(err)
	}
	for n := range data {
		got, err := DecodeBundle(data[:n])
		if err == nil || got != nil || !strings.Contains(err.Error(), "cut off") {
			t.Fatalf("%d of %d bytes: %d runs, %v", n, len(data), len(got), err)
		}
	}
}

func TestBundleOfAnything(t *testing.T) {
	whole, err := EncodeBundle(bundled(t))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		data := bytes.Clone(whole)
		at := rapid.IntRange(0, len(data)-1).Draw(t, "at")
		data[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "by"))
		if got, err := DecodeBundle(data); err == nil && len(got) != 3 {
			t.Fatalf("%d runs", len(got))
		}
	})
}

// zipped makes a bundle of lines as they are.
func zipped(lines ...string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for _, l := range lines {
		io.WriteString(z, l+"\n")
	}
	z.Close()
	return b.Bytes()
}

func TestBundleRefuses(t *testing.T) {
	run, err := EncodeRun(exportedRun())
	if err != nil {
		t.Fatal(err)
	}
	trial, err := Encode(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	head, end := `{"schema":"netdelta.bundle/1","runs":1}`, `{"schema":"netdelta.bundle-end/1","runs":1,"trials":1}`
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"another gzip":       {zipped("hello"), "no bundle"},
		"another schema":     {zipped(`{"schema":"netdelta.report/1"}`), "netdelta.bundle/1"},
		"a newer one":        {zipped(`{"schema":"netdelta.bundle/2","runs":1}`), "newer"},
		"no end":             {zipped(head, string(run)), "cut off"},
		"a trial first":      {zipped(head, string(trial)), "before the first run"},
		"no object":          {zipped(head, "["), "line 2"},
		"a broken run":       {zipped(head, `{"schema":"netdelta.run/2"}`), "line 2"},
		"a broken trial":     {zipped(head, string(run), `{"schema":"netdelta.trial/2"}`), "line 3"},
		"a trial too few":    {zipped(head, string(run), end), "says that it has"},
		"a run too many":     {zipped(head, string(run), string(run), string(trial), end), "says that it has"},
		"something follows":  {zipped(head, string(run), string(trial), end, "x"), "follows"},
		"no compressed file": {[]byte("\x1f\x8bxxxxxxxxxxxxxxxxxxx"), "read bundle"},
	} {
		if got, err := DecodeBundle(c.data); err == nil || got != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want one that says %q", name, err, c.want)
		}
	}
	if _, err := DecodeBundle(zipped(head, string(run), string(trial), end)); err != nil {
		t.Errorf("a whole one: %v", err)
	}
	if _, err := EncodeBundle([]Bundled{{}}); err == nil {
		t.Error("a run without an id is written")
	}
}

func FuzzDecodeBundle(f *testing.F) {
	f.Add([]byte(`{"schema":"netdelta.bundle/1","runs":0}` + "\n" + `{"schema":"netdelta.bundle-end/1","runs":0,"trials":0}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := DecodeBundle(zipped(string(data)))
		if err != nil {
			return
		}
		back, err := EncodeBundle(all)
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeBundle(back)
		if err != nil || len(again) != len(all) {
			t.Fatalf("%d runs are read back as %d: %v", len(all), len(again), err)
		}
	})
}

func exportedRun() Run {
	r := Run{ID: "a234567890", Label: "old", Target: "bench2", State: Complete, Start: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), End: time.Date(2026, 1, 2, 3, 5, 5, 0, time.UTC), Command: "netdelta run bench2:7000 --data 10.1.2.3,fe80::1%eth0",
		Environments: []Environment{{End: Local, Facts: []Fact{{FactHost, "alpha"}, {"kernel", "6.18.44-alpha1"}, {"name", "alpha alphabet"}}},
			{End: Remote, Facts: []Fact{{FactHost, "bench2.example.org"}, {"clock", "12:30:45"}, {"route", "192.0.2.7 via 2001:db8::1 on eth0"}}}},
		Warnings: []Warning{{Code: "x", Text: "alpha did not answer 192.0.2.7:7000", Advice: "ask bench2"}}}
	return r
}

// What identifies hosts is gone, and nothing else is.
func TestRedacted(t *testing.T) {
	r := exportedRun()
	before, _ := json.Marshal(r)
	got := Redacted(r)
	if after, _ := json.Marshal(r); !bytes.Equal(before, after) {
		t.Error("the run itself is changed")
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"bench2", "example.org", "10.1.2.3", "fe80::1", "192.0.2.7", "2001:db8::1", `"alpha"`, "alpha did"} {
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("%q is still there: %s", secret, text)
		}
	}
	for _, kept := range []string{"6.18.44-alpha1", "alphabet", "12:30:45", "on eth0", "did not answer"} {
		if !bytes.Contains(text, []byte(kept)) {
			t.Errorf("%q is gone: %s", kept, text)
		}
	}
	lab := Run{ID: "a234567890", Target: "lab", Command: "netdelta ab --lab veth"}
	if got := Redacted(lab); got.Target != "lab" || got.Command != lab.Command {
		t.Errorf("of a lab %q and %q are left", got.Target, got.Command)
	}
}
