package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"netdelta/internal/cli"
	"netdelta/internal/compare"
)

// A run is held against a baseline when it is over, and gates judge that; what
// it is of, and the boot that it stands for, are kept.
func TestRunAgainstBaseline(t *testing.T) {
	x := newTwoHosts(t)
	x.start(t, "--secret-file", x.secret)
	of := []string{"--test", "udp_rr", "--trials", "2"}
	x.run(t, append(of, "--label", "k1", "--boot")...).want(t, cli.ExitDone)
	o := x.kept(t, "baseline", "good", "k1")
	o.want(t, cli.ExitDone)
	if !strings.HasPrefix(o.stdout, "@good is run ") {
		t.Errorf("baseline said %q", o.stdout)
	}

	// Two trials tell nothing: unsure, which is what this gate fails on.
	o = x.run(t, append(of, "--label", "k1", "--boot", "--against", "@good", "--fail-on", "unsure:rtt_p50", "--format", "json")...)
	o.want(t, cli.ExitGate, "is of this boot too", "failed on unsure:rtt_p50: udp_rr rtt_p50 at the local end, ")
	var r compare.Report
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil || r.Trials != 4 || r.Pairing != compare.Unpaired || len(r.Sources) != 2 {
		t.Errorf("%v: %+v", err, r)
	}
	codes := map[string]bool{}
	for _, w := range r.Warnings {
		codes[w.Code] = true
	}
	if !codes["too-few-boots"] || !codes["same-boot"] {
		t.Errorf("warnings %v", codes)
	}
	o = x.run(t, append(of, "--against", "@good", "--bisect")...)
	o.want(t, 125, "undecided on worse: udp_rr rtt_p50")
	if !strings.Contains(o.stdout, " against k1: ") || !strings.Contains(o.stdout, "\nKept as run ") {
		t.Errorf("got\n%s", o.stdout)
	}
	x.run(t, append(of, "--against", "@godo")...).want(t, cli.ExitUsage, `no baseline is called "godo": near to it are "good"`)
	x.kept(t, "rm", "@good").want(t, cli.ExitUsage, `the run is a baseline, "good": remove that name first`)
	x.kept(t, "compare", "@good", "k1").want(t, cli.ExitUsage, "is given twice")
	x.kept(t, "show", "@good").want(t, cli.ExitDone)
	x.kept(t, "baseline", "--remove", "good").want(t, cli.ExitDone)
	x.kept(t, "rm", "k1").want(t, cli.ExitDone)
}
