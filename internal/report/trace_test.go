package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"netdelta/internal/compare"
)

func TestTrace(t *testing.T) {
	for what, d := range documents(t) {
		var b bytes.Buffer
		if err := Trace(&b, d); err != nil {
			t.Fatal(what, err)
		}
		var trace struct {
			Events []struct {
				Name string  `json:"name"`
				Dur  float64 `json:"dur"`
			} `json:"traceEvents"`
		}
		if err := json.Unmarshal(b.Bytes(), &trace); err != nil {
			t.Fatal(err)
		}
		found := false
		for _, e := range trace.Events {
			found = found || strings.HasPrefix(e.Name, "round trip 1") && e.Dur == 1
		}
		if !found {
			t.Errorf("%s: no round trip of 1 us in %s", what, b.String())
		}
	}
}

// Where nothing was watched there is nothing to trace, and no empty file.
func TestNothingToTrace(t *testing.T) {
	var b bytes.Buffer
	if err := Trace(&b, &compare.Document{}); !errors.Is(err, ErrNothingWatched) || b.Len() > 0 {
		t.Errorf("%v, %q", err, b.String())
	}
}
