package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
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

func TestRunFormats(t *testing.T) {
	if want := []string{"text", "json"}; !slices.Equal(RunFormatNames(), want) {
		t.Errorf("formats are %v, want %v", RunFormatNames(), want)
	}
	r := keptRun(t)
	for _, name := range RunFormatNames() {
		f, err := RunFormatOf(name)
		if err != nil || f.Name != name || f.About == "" {
			t.Fatalf("%s: %+v, %v", name, f, err)
		}
		var b bytes.Buffer
		if err := f.Render(&b, &r, RunOptions{Machines: true, Next: "go on"}); err != nil || !strings.HasSuffix(b.String(), "\n") {
			t.Errorf("%s: %v, ends with %q", name, err, b.String()[max(0, b.Len()-1):])
		}
		if err := f.Render(fullDisk{}, &r, RunOptions{}); !errors.Is(err, errFull) {
			t.Errorf("%s on a full disk: %v", name, err)
		}
	}
	if _, err := RunFormatOf("html"); err == nil || !strings.Contains(err.Error(), `unknown format "html": valid are text, json`) {
		t.Errorf("got %v", err)
	}
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
