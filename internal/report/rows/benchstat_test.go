package rows

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
)

// The format's own reader takes every line of what is written.
func TestBenchfmtReads(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.bench"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		wanted := strings.Count(string(data), "\nBenchmark")
		r, results := benchfmt.NewReader(bytes.NewReader(data), name), 0
		for r.Scan() {
			switch x := r.Result().(type) {
			case *benchfmt.SyntaxError:
				t.Error(x)
			case *benchfmt.Result:
				results++
			}
		}
		if r.Err() != nil || results != wanted {
			t.Errorf("%s: %d results of %d, %v", name, results, wanted, r.Err())
		}
	}
}

// benchstat makes a table of it that has both variants, every test, and a change.
func TestBenchstat(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds benchstat")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command to build benchstat with")
	}
	out, err := exec.Command(tool, "tool", "benchstat", "-col", "/rx", filepath.Join("testdata", "planned.bench")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"softirq", "napi-2", "vs base", "rtt_p50-sec", "Udp_rr/size=1-1", "goodput-bit/s"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "parse") || strings.Contains(string(out), "syntax") {
		t.Errorf("it complains:\n%s", out)
	}
}
