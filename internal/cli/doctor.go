package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"netdelta/internal/agent"
	"netdelta/internal/ctl"
	"netdelta/internal/doctor"
	"netdelta/internal/hosts"
	"netdelta/internal/report"
)

// doctorFlags holds what the command line gives, before it is checked.
type doctorFlags struct {
	security     securityFlags
	look         time.Duration
	data, format string
}

func newDoctor() *cobra.Command {
	var f doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor [TARGET] [TARGET2]",
		Short: "Say what would spoil a measurement, and what mends it",
		Long: `Looks at this host, and with TARGET also at the host of the agent there and at
the path between them (with TARGET2 at the hosts of both agents): how they are
set, and for a moment what they do while nothing is measured. It says what
would spoil a measurement, what weighs most first, each with the command that
mends it. It runs none of them and changes nothing.

The exit status is 0 whatever was found, and 3 if it could not look.`,
		Example: `  netdelta doctor
  netdelta doctor bench2 --secret-file secret
  netdelta doctor bench2 --secret-file secret --format json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDoctor(cmd.Context(), f, args, cmd.OutOrStdout())
		},
	}
	fl := cmd.Flags()
	f.security.add(fl)
	fl.DurationVar(&f.look, "look", time.Second, "for how long to look at what the hosts do")
	fl.StringVar(&f.data, "data", "", "addresses of the path, REMOTE or LOCAL,REMOTE, where they are not those of the control connection")
	fl.StringVar(&f.format, "format", "text", "report format: "+strings.Join(report.DoctorFormatNames(), ", "))
	return cmd
}

// minLook is the shortest look that tells anything in steps of ten
// milliseconds.
const minLook = 100 * time.Millisecond

func runDoctor(ctx context.Context, f doctorFlags, args []string, stdout io.Writer) error {
	format, err := report.DoctorFormatOf(f.format)
	if err != nil {
		return &exitError{ExitUsage, err}
	}
	if f.look < minLook || f.look > ctl.MaxLook {
		return usageError("look %v is out of range: %v to %v", f.look, minLook, ctl.MaxLook)
	}
	var path hosts.Path
	if path.DataLocal, path.DataRemote, err = hosts.ParseData(f.data); err != nil {
		return usageError("--data: %w", err)
	}
	var targets []hosts.Target
	switch {
	case len(args) > 2:
		return usageError("doctor takes no argument for this host alone, TARGET, or two of them, got %d (see netdelta doctor --help)", len(args))
	case len(args) > 0:
		if targets, err = f.security.targets("doctor", args); err != nil {
			return err
		}
	case f.data != "":
		return usageError("--data is of a path: name the agent at its far end, or leave it out")
	}
	seen, err := checkup(ctx, targets, path, f.look)
	if err != nil {
		status := ExitUnmeasured
		if ctx.Err() != nil {
			status, err = ExitInterrupted, errors.New("interrupted: nothing was found out")
		}
		return &exitError{status, err}
	}
	rep := doctor.Examine(patient(seen))
	if err := format.Render(stdout, &rep); err != nil {
		return &exitError{ExitUnmeasured, fmt.Errorf("write what was found: %w", err)}
	}
	return nil
}

// checkup looks at the ends of a path, or at this host where there is none.
func checkup(ctx context.Context, targets []hosts.Target, path hosts.Path, d time.Duration) (hosts.Checkup, error) {
	o := ctl.Options{Client: clientName(), Version: versionString()}
	if len(targets) == 0 {
		c, end, err := hosts.Here(ctx, agent.Config{Version: versionString()}, o)
		if err != nil {
			return hosts.Checkup{}, err
		}
		defer end()
		return hosts.CheckupHere(ctx, c, d)
	}
	pair, err := hosts.Connect(ctx, targets, versionString(), o)
	if err != nil {
		return hosts.Checkup{}, err
	}
	defer pair.Close()
	path.Pair = pair
	return path.Checkup(ctx, d)
}

// patient is what was seen, for the doctor.
func patient(c hosts.Checkup) doctor.Input {
	in := doctor.Input{Loopback: c.Loopback}
	for _, e := range c.Ends {
		h := doctor.Host{End: e.End, Name: e.Host, Version: e.Version, Facts: e.Facts, Look: e.Look, Unseen: e.Unseen}
		if e.Look != nil {
			h.Device = e.Look.Device
		}
		in.Hosts = append(in.Hosts, h)
	}
	return in
}
