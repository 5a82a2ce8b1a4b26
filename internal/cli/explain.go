package cli

import (
	"github.com/spf13/cobra"

	"netdelta/internal/spec"
)

// explained are the tests of netdelta explain unless others are named.
var explained = []string{"udp_rr", "tcp_rr"}

func newExplain() *cobra.Command {
	f := runFlags{verb: "explain"}
	cmd := &cobra.Command{
		Use:   "explain TARGET [TARGET2]",
		Short: "Tell where the time of a path's round trips goes, stage by stage",
		Long: `Measures round trips between this host and the agent at TARGET, or between the
agents at TARGET (the local end) and TARGET2, as run does, and each test a
second time with some of its round trips watched on their way through both
hosts. Each is divided into stages, from the call that sends the request to the
return of the one that receives the answer, which add up to it.

What tells where messages are is the sharpest that both hosts allow: programs at
the kernel's tracepoints (bpf: root, or CAP_BPF and CAP_PERFMON), or the sockets'
timestamps (stamps: nobody's privilege), or nothing but the clock around the
calls (clock). What watching costs is measured and printed.

The same is had of two variants by lab, ab and compare: with --explain they say
which stages a change is in. docs/stages.md says what each stage is.`,
		Example: `  netdelta explain bench2 --secret-file secret
  netdelta explain bench2 --secret-file secret --tests "udp_rr size=1400" --explain=stamps
  netdelta explain bench2 --secret-file secret --trials 4 --trace trips.trace
  netdelta explain 192.0.2.1 192.0.2.2 --secret-file secret -o where.html`,
		RunE: func(cmd *cobra.Command, args []string) error {
			fl := cmd.Flags()
			if fl.Changed("no-store") && fl.Changed("store") {
				return usageError("--store and --no-store exclude each other: give one of them")
			}
			f.warmed, f.divided = fl.Changed("warmup"), fl.Changed("interval")
			return runRun(cmd.Context(), f, args, fl.Changed("seed"), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f.add(cmd.Flags(), explained)
	cmd.Flags().Lookup("explain").DefValue = spec.ExplainAuto
	f.explain.value = spec.ExplainAuto
	return cmd
}
