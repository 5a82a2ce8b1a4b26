package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestExportIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := runGen().Draw(t, "run")
		trials := rapid.SliceOfN(trialGen(), 0, 3).Draw(t, "trials")
		data, err := EncodeExport(run, trials)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(data) {
			t.Fatalf("not one JSON value: %s", data)
		}
		gotRun, gotTrials, err := DecodeExport(data)
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		run.Schema = RunSchema
		if d := cmp.Diff(run, gotRun, equal); d != "" {
			t.Fatalf("the run differs (-written +read):\n%s", d)
		}
		if len(trials) != len(gotTrials) || len(trials) > 0 && cmp.Diff(trials, gotTrials, equal) != "" {
			t.Fatalf("the trials differ (-written +read):\n%s", cmp.Diff(trials, gotTrials, equal))
		}
	})
}

func TestDecodeExportRefuses(t *testing.T) {
	good, err := EncodeExport(sampleRun(), []Trial{sample(t)})
	if err != nil {
		t.Fatal(err)
	}
	run, err := EncodeRun(sampleRun())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, text, wantErr string }{
		{"nothing", "", "unexpected end"},
		{"cut off", string(good[:len(good)-10]), "unexpected end"},
		{"more after it", string(good) + "{}", "invalid character"},
		{"no object", "[1]", "cannot unmarshal"},
		{"no schema", `{"run":{},"trials":[]}`, `its schema is ""`},
		{"a report", `{"schema":"netdelta.report/1"}`, "netdelta.run-export/1 is needed"},
		{"a newer one", `{"schema":"netdelta.run-export/2"}`, "use a newer netdelta"},
		{"a field too many", fmt.Sprintf(`{"schema":%q,"run":%s,"trials":[],"more":1}`, ExportSchema, run), `unknown field "more"`},
		{"no run", fmt.Sprintf(`{"schema":%q,"trials":[]}`, ExportSchema), "it lacks the run or its trials"},
		{"no trials", fmt.Sprintf(`{"schema":%q,"run":%s}`, ExportSchema, run), "it lacks the run or its trials"},
		{"a bad run", fmt.Sprintf(`{"schema":%q,"run":{"schema":"netdelta.run/1"},"trials":[]}`, ExportSchema), `read run: id ""`},
		{"a bad trial", fmt.Sprintf(`{"schema":%q,"run":%s,"trials":[{}]}`, ExportSchema, run), "trial 1 of 1: read trial: no schema named"},
	} {
		_, _, err := DecodeExport([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.wantErr) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.wantErr)
		}
	}
}

// What DecodeExport accepts it writes again, and reads the same from that.
func FuzzDecodeExport(f *testing.F) {
	data, err := EncodeExport(sampleRun(), []Trial{sample(f)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"schema":"netdelta.run-export/1","run":{},"trials":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		run, trials, err := DecodeExport(data)
		if err != nil {
			return
		}
		first, err := EncodeExport(run, trials)
		if err != nil {
			t.Fatalf("read but not written: %v", err)
		}
		run, trials, err = DecodeExport(first)
		if err != nil {
			t.Fatalf("written but not read: %v", err)
		}
		second, err := EncodeExport(run, trials)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("written twice it differs (%v):\n%s\n%s", err, first, second)
		}
	})
}
