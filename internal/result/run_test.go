package result

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netdelta/internal/spec"
)

func runGen() *rapid.Generator[Run] {
	return rapid.Custom(func(t *rapid.T) Run {
		r := Run{
			Schema:     RunSchema,
			ID:         RunID(rapid.Uint64().Draw(t, "random")),
			Label:      rapid.StringMatching(`([a-zé](| )[0-9])?`).Draw(t, "label"),
			Experiment: rapid.StringMatching(`[a-z-]{0,9}`).Draw(t, "experiment"),
			Target:     rapid.StringMatching(`[a-z0-9.:]{0,15}`).Draw(t, "target"),
			State:      rapid.SampledFrom(states).Draw(t, "state"),
			Start:      time.Unix(0, rapid.Int64Range(1, 4e18).Draw(t, "start")).UTC(),
			Command:    "netdelta run h --label 'a b'",
			Version:    "v0.1",
			Warnings:   warnings(t, "warnings"),
		}
		if r.State != Running {
			r.End = r.Start.Add(time.Duration(rapid.Int64Range(-1e9, 1e13).Draw(t, "took")))
		}
		if rapid.Bool().Draw(t, "has a plan") {
			r.Plan = &spec.Plan{Experiment: r.Experiment, Factors: []spec.Factor{{Name: "rx", Levels: []string{"a", "b"}}},
				Baseline: spec.Variant{"rx": "a"}, Tests: []spec.Test{sample2(t)}, Blocks: 8, Window: time.Second,
				Seed: rapid.Uint64().Draw(t, "seed"), Margin: 0.02}
		}
		for _, end := range []string{Local, Remote} {
			if rapid.Bool().Draw(t, "has "+end) {
				r.Environments = append(r.Environments, Environment{End: end,
					Facts: []Fact{{"kernel", "6.18"}, {"cpu", rapid.String().Draw(t, "cpu")}}})
			}
		}
		return r
	})
}

func sample2(t *rapid.T) spec.Test {
	test, err := spec.NewTest("udp_rr", spec.Params{})
	if err != nil {
		t.Fatal(err)
	}
	return test
}

func TestRunIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := runGen().Draw(t, "run")
		data, err := EncodeRun(want)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.ContainsAny(data, "\r\n") {
			t.Fatalf("more than a line: %q", data)
		}
		got, err := DecodeRun(data)
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if d := cmp.Diff(want, got, equal); d != "" {
			t.Fatalf("read back with a difference (-written +read):\n%s", d)
		}
	})
}

// sampleRun is one valid record to spoil.
func sampleRun() Run {
	return Run{ID: "0123456789", Label: "old", Target: "192.0.2.1", State: Complete,
		Start: time.Date(2001, 10, 1, 12, 0, 0, 0, time.UTC), End: time.Date(2001, 10, 1, 12, 1, 0, 0, time.UTC),
		Environments: []Environment{{End: Local, Facts: []Fact{{"kernel", "2.4.10"}}}}}
}

func TestEncodeRunRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		spoil   func(*Run)
		wantErr string
	}{
		{"no id", func(r *Run) { r.ID = "" }, `id ""`},
		{"short id", func(r *Run) { r.ID = "012345678" }, "10 of the characters"},
		{"capital id", func(r *Run) { r.ID = "ABCDEFGHJK" }, `id "ABCDEFGHJK"`},
		{"long label", func(r *Run) { r.Label = strings.Repeat("x", MaxLabel+1) }, "longer than 128 bytes"},
		{"label of two lines", func(r *Run) { r.Label = "a\nb" }, `has '\n' in it`},
		{"label with an escape", func(r *Run) { r.Label = "a\x1b[2J" }, `has '\x1b' in it`},
		{"label with a trailing blank", func(r *Run) { r.Label = "a " }, "begins or ends with a blank"},
		{"label not UTF-8", func(r *Run) { r.Label = "\xff" }, "is not UTF-8"},
		{"state", func(r *Run) { r.State = "done" }, "valid are running, complete, partial, failed"},
		{"no start", func(r *Run) { r.Start = time.Time{} }, "no start time"},
		{"year", func(r *Run) { r.End = time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC) }, "year 2300"},
		{"end", func(r *Run) { r.Environments[0].End = "far" }, `the end "far"`},
		{"schema", func(r *Run) { r.Schema = "x" }, ""}, // set by EncodeRun
	} {
		r := sampleRun()
		c.spoil(&r)
		_, err := EncodeRun(r)
		if c.wantErr == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.wantErr) {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.wantErr)
		}
	}
}

func TestDecodeRunIsStrict(t *testing.T) {
	good, err := EncodeRun(sampleRun())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, data, wantErr string }{
		{"empty", "", "unexpected end"},
		{"no schema", `{"id":"0123456789"}`, `its schema is "": netdelta.run/2 is needed`},
		{"a trial", `{"schema":"netdelta.trial/1"}`, `"netdelta.trial/1": netdelta.run/2 is needed`},
		{"newer", `{"schema":"netdelta.run/3","new":1}`, "its schema is netdelta.run/3 and this program reads netdelta.run/2: use a newer netdelta"},
		{"older", `{"schema":"netdelta.run/0"}`, "reads only netdelta.run/2"},
		{"unknown field", strings.Replace(string(good), `"label"`, `"lable"`, 1), `unknown field "lable"`},
		{"two", string(good) + string(good), "after top-level value"},
		{"state", strings.Replace(string(good), `"complete"`, `"finished"`, 1), `state "finished"`},
	} {
		if got, err := DecodeRun([]byte(c.data)); err == nil || !strings.Contains(err.Error(), c.wantErr) {
			t.Errorf("%s: got %+v, %v; want an error with %q", c.name, got, err, c.wantErr)
		}
	}
}

func TestRunID(t *testing.T) {
	seen := map[string]bool{}
	for _, bits := range []uint64{0, 1, 31, 32, 1 << 49, 1<<50 - 1} {
		id := RunID(bits)
		if got, ok := NormalRunID(id); !ok || got != id || len(id) != RunIDLength {
			t.Errorf("RunID(%d) is %q, read as %q, %v", bits, id, got, ok)
		}
		if seen[id] {
			t.Errorf("RunID(%d) is %q again", bits, id)
		}
		seen[id] = true
	}
	for _, c := range []struct {
		typed, want string
		ok          bool
	}{
		{"7F3", "7f3", true}, {"ilo", "110", true}, {"LIO0", "1100", true},
		{"", "", false}, {"u", "", false}, {"a-b", "", false}, {"01234567890", "", false}, {"é", "", false}, {"\u212a", "", false},
	} {
		if got, ok := NormalRunID(c.typed); got != c.want || ok != c.ok {
			t.Errorf("NormalRunID(%q) is %q, %v; want %q, %v", c.typed, got, ok, c.want, c.ok)
		}
	}
}

func FuzzDecodeRun(f *testing.F) {
	good, err := EncodeRun(sampleRun())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"schema":"netdelta.run/3"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := DecodeRun(data)
		if err != nil {
			return
		}
		again, err := EncodeRun(r)
		if err != nil {
			t.Fatalf("accepted, yet can't be written: %v", err)
		}
		if _, err := DecodeRun(again); err != nil {
			t.Fatalf("can't be read again: %v", err)
		}
	})
}
