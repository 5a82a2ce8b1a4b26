package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netdelta/internal/cli"
	"netdelta/internal/compare"
	"netdelta/internal/counters/trace"
	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/result"
	"netdelta/internal/summary"
)

// sharpest is what tells where messages are, for who runs the tests.
func sharpest() string {
	if trace.Available() == nil {
		return result.SeenByBPF
	}
	return result.SeenByStamps
}

// TestExplain has a path explained: the sentence first, the table, what watching cost,
// and the same from the store and as a trace.
func TestExplain(t *testing.T) {
	x := newTwoHosts(t)
	x.start(t, "--secret-file", x.secret)
	file := filepath.Join(t.TempDir(), "trips.trace")
	explain := func(args ...string) outcome {
		return x.kept(t, append([]string{"explain", x.link.AddrB().String(), "--secret-file", x.secret, "--trials", "2", "--time", "200ms"}, args...)...)
	}
	o := explain("--label", "why", "--trace", file)
	o.want(t, cli.ExitDone)
	words := strings.Join(strings.Fields(o.stdout), " ")
	if !strings.HasPrefix(words, "udp_rr size=1: of a typical round trip's ") {
		t.Errorf("it does not begin with where the time goes:\n%s", o.stdout)
	}
	for _, want := range []string{"Where the time goes: udp_rr size=1", "Where the time goes: tcp_rr size=1", "> qdisc local ", "Cost of watching: the median of all round trips ", "Longest watched round trip: "} {
		if !strings.Contains(words, want) {
			t.Errorf("the report lacks %q:\n%s", want, o.stdout)
		}
	}
	if strings.Contains(words, "explain=auto ") {
		t.Errorf("figures of watched windows stand beside the others:\n%s", o.stdout)
	}
	checkWidth(t, o.stdout)

	o = x.kept(t, "show", "why", "--format", "json")
	o.want(t, cli.ExitDone)
	var r summary.Report
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil || len(r.Stages) != 2 {
		t.Fatalf("%v, stages of %d tests", err, len(r.Stages))
	}
	for _, s := range r.Stages {
		v := &s.Variants[0]
		if s.By != sharpest() || v.Watched < 4 || v.Cost.Est == nil || v.Clock != nil {
			t.Errorf("%s by %s (want %s): %+v", s.Test, s.By, sharpest(), v)
		}
		if rest := v.PartsNS[len(v.PartsNS)-1]; rest > v.TotalNS/10 {
			t.Errorf("%s: %v of %v ns are not attributed", s.Test, rest, v.TotalNS)
		}
	}

	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var traced struct {
		Events []json.RawMessage `json:"traceEvents"`
	}
	if err := json.Unmarshal(data, &traced); err != nil || len(traced.Events) < 100 {
		t.Errorf("%d events in the trace, %v", len(traced.Events), err)
	}

	// Two such runs are compared by stages, too.
	explain("--label", "again", "--tests", "udp_rr").want(t, cli.ExitDone)
	o = x.kept(t, "compare", "why", "again")
	o.want(t, cli.ExitDone)
	if !strings.Contains(strings.Join(strings.Fields(o.stdout), " "), "udp_rr size=1, why to again: the typical round trip ") {
		t.Errorf("got\n%s", o.stdout)
	}
	x.run(t, "--label", "plain").want(t, cli.ExitDone)
	x.kept(t, "show", "plain", "--format", "trace").want(t, cli.ExitUnmeasured, "netdelta: write the report: there is no round trip to trace: none was watched")
}

func TestExplainRefused(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"explain", "takes TARGET"},
		{"explain h --insecure --explain=guess", `--explain "guess" is none: valid are auto, bpf, stamps, clock`},
		{"explain h --insecure --tests tcp_crr", "explain has nothing to watch: it is for round trips one after another (icmp_echo, udp_rr, tcp_rr), and for streams"},
		{"lab rx-context --explain --tests tcp_crr", "explain has nothing to watch"},
		{"run h --insecure --trace /nowhere/x", "--trace /nowhere/x: there is no folder /nowhere"},
	} {
		b := begun{Cmd: command(strings.Fields(c.args)...)}
		b.Stdout, b.Stderr = &b.out, &b.err
		if err := b.Start(); err != nil {
			t.Fatal(err)
		}
		b.wait(t).want(t, cli.ExitUsage, c.want)
	}
}

// TestTruthByStages has the stages find what was put in, where it was put in.
func TestTruthByStages(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	labtest.Need(t, labProbe(), feature.TAP, feature.TAPNAPI)
	if err := trace.Available(); err != nil {
		t.Skip(err) // the stamps do not tell the wake-up apart
	}
	labtest.NoLeaks(t)
	b := begun{Cmd: command("lab", "truth", "--explain", "--levels", "none,delay-50us,busy-remote", "--tests", "udp_rr", "--blocks", "6", "--time", "150ms", "--format", "json")}
	b.Stdout, b.Stderr = &b.out, &b.err
	if err := b.Start(); err != nil {
		t.Fatal(err)
	}
	o := b.wait(t)
	var r compare.Report
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil {
		t.Fatal(err, o.stderr)
	}
	for _, what := range []string{"delay 50us in the wire's stage, request", "delay 50us in the wire's stage, answer", "busy CPU at the remote end"} {
		i := slices.IndexFunc(r.Checks, func(c compare.Check) bool { return strings.HasPrefix(c.Name, what) })
		if i < 0 || r.Checks[i].Found == nil || r.Checks[i].Failed() {
			t.Errorf("%s: %+v", what, r.Checks)
		}
	}
}
