package html

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// bulk is what a golden file does without: the style, the scripts, and what gzip made of
// the data, which is another with another release of Go.
var bulk = regexp.MustCompile(`(?s)(<style>|<script>|data-gzip="|sha256-)[^<"']+`)

func TestGolden(t *testing.T) {
	for name, page := range map[string]string{"few": rendered(t, kept(t, "few")), "lab": rendered(t, planned(t))} {
		path := filepath.Join("testdata", name+".golden")
		got := bulk.ReplaceAllString(page, "$1...")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s (-golden +got; if it should differ, run with -update):\n%s", name, d)
		}
	}
}
