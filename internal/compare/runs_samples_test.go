package compare

import (
	"testing"

	"netdelta/internal/result"
)

// runSamples are made-up comparisons of separate runs, kept in testdata beside
// those of plans.
func runSamples(t testing.TB) map[string]Report {
	lock := result.Warning{Code: "mlock", Text: "memory could not be locked (operation not permitted)",
		Advice: "run as root or raise the limit of locked memory"}

	// Round trips got longer with another kernel at the remote end; one of
	// three boots is far off.
	b := newBoots(t, 11, "icmp_echo", "udp_rr", "tcp_rr", "udp_stream", "tcp_stream")
	old := b.runs(2, "old", 5, 1)
	b.plan.Tests = b.plan.Tests[:4]
	new := append(b.runs(2, "new", 5, 1.14), b.run("new", 5, 1.35))
	for _, side := range [][]Kept{old, new} {
		for _, k := range side {
			for i := range k.Trials {
				if x := &k.Trials[i]; x.Remote != nil || x.Test.Name == "udp_rr" || x.Test.Name == "tcp_rr" {
					x.Local.Warnings = []result.Warning{lock}
				}
			}
		}
	}
	for i := range new {
		new[i].Run.Environments[0].Facts = append(new[i].Run.Environments[0].Facts, Fact{Name: "governor", Value: "powersave"})
		new[i].Run.Environments[1].Facts = []Fact{{Name: "kernel", Value: "6.19.2"}, {Name: "cpu", Value: "AMD EPYC 7B13"}}
	}
	new[2].Run.State = result.Partial
	new[2].Run.Warnings = []result.Warning{{Code: "cut_off", Text: "the program that measured this run ended without finishing it; what it had measured is kept"}}

	// Three against three, with nothing kept about the remote end.
	f := newBoots(t, 12, "tcp_rr", "tcp_stream")
	few := f.runs(2, "", 3, 1)
	for i := range few {
		few[i].Run.Environments = few[i].Run.Environments[:1]
	}
	longer := few[1].Trials[0]
	longer.Test.Params.Size, longer.Order = 64, 100
	few[1].Trials = append(few[1].Trials, longer)
	return map[string]Report{
		"runs": compareRuns(t, old, new, RunsOptions{Version: "0.1.0", Command: "netdelta compare old new"}),
		"few":  compareRuns(t, few[:1], few[1:], RunsOptions{Command: "netdelta compare " + few[0].Run.ID + " " + few[1].Run.ID}),
	}
}
