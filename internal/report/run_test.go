package report

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/summary"
)

func keptRun(t *testing.T) summary.Report {
	t.Helper()
	data, err := os.ReadFile("../summary/testdata/run.json")
	if err != nil {
		t.Fatal(err)
	}
	var r summary.Report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRunJSONIsReadBack(t *testing.T) {
	want := keptRun(t)
	var b bytes.Buffer
	if err := RunJSON(&b, &want); err != nil {
		t.Fatal(err)
	}
	var got summary.Report
	d := json.NewDecoder(&b)
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil || d.More() {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("read back it differs:\n%s", d)
	}
	nan := math.NaN()
	want.Figures[0].Median = &nan
	if err := RunJSON(&b, &want); err == nil {
		t.Error("a NaN was written as JSON")
	}
}
