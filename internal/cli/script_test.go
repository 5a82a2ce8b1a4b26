package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"netdelta/internal/cli"
	"netdelta/internal/compare"
	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/netlab"
	"netdelta/internal/roles"
)

var update = flag.Bool("update", false, "rewrite the golden output within the scripts")

func TestMain(m *testing.M) {
	if status, ok := roles.Dispatch(os.Args[1:]); ok {
		os.Exit(status)
	}
	testscript.Main(m, map[string]func(){
		"netdelta": func() {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			os.Exit(cli.Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
		},
	})
}

// scriptNeeds says what the scripts of a folder cannot do without.
var scriptNeeds = []struct {
	dir    string
	probes []feature.Probe
}{
	{"testdata/script", nil},
	{"testdata/lab", []feature.Probe{labProbe()}},
	{"testdata/ether", []feature.Probe{feature.TAP, feature.TAPNAPI, feature.ThreadedNAPI}},
}

// labProbe is what a veth lab needs of this user: being root, or a user
// namespace, which the program enters by itself.
func labProbe() feature.Probe {
	if netlab.NeedUserNS() {
		return feature.UserNS
	}
	return feature.Veth
}

func TestScripts(t *testing.T) {
	posts, err := filepath.Abs("../interop/testdata/posts")
	if err != nil {
		t.Fatal(err)
	}
	exports, err := filepath.Abs("testdata/exports")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scriptNeeds {
		t.Run(s.dir, func(t *testing.T) {
			labtest.Need(t, s.probes...)
			testscript.Run(t, testscript.Params{
				Dir:           s.dir,
				UpdateScripts: *update,
				Setup: func(e *testscript.Env) error {
					e.Setenv("POSTS", posts)                                          // what people posted, and tables of it
					e.Setenv("EXPORTS", exports)                                      // runs that were kept, of one variant each
					e.Setenv("NETDELTA_JOURNAL", filepath.Join(e.WorkDir, "journal")) // not the machine's
					return nil
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					"status": status,
					"report": checkReport,
				},
			})
		})
	}
}

// status runs a command and checks its exit status: status 2 netdelta lab x.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// checkReport decodes a JSON report and checks what must be so in any:
// report FILE BLOCKS TRIALS TEST:METRIC:VARIANT...
func checkReport(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: report FILE BLOCKS TRIALS [TEST:METRIC:VARIANT...]")
	}
	var r compare.Report
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	d.DisallowUnknownFields()
	ts.Check(d.Decode(&r))
	if d.More() {
		ts.Fatalf("there is text after the report")
	}
	if r.Schema != "netdelta.report/1" {
		ts.Fatalf("schema %q", r.Schema)
	}
	if got := strconv.Itoa(r.Blocks); got != args[1] {
		ts.Fatalf("blocks %s, want %s", got, args[1])
	}
	if got := strconv.Itoa(r.Trials); got != args[2] {
		ts.Fatalf("trials %s, want %s", got, args[2])
	}
	for _, c := range r.Comparisons {
		switch c.Verdict {
		case compare.Better, compare.Worse, compare.Same, compare.Unsure:
		default:
			ts.Fatalf("%s %s: verdict %q", c.Test, c.Metric, c.Verdict)
		}
	}
	for _, want := range args[3:] {
		parts := strings.Split(want, ":")
		if len(parts) != 3 {
			ts.Fatalf("%q is not TEST:METRIC:VARIANT", want)
		}
		if !slices.ContainsFunc(r.Comparisons, func(c compare.Comparison) bool {
			return c.Test == parts[0] && c.Metric == parts[1] && c.Variant == parts[2] && c.A.Median != nil && c.B.Median != nil
		}) {
			ts.Fatalf("no row with figures for %s", want)
		}
	}
}
