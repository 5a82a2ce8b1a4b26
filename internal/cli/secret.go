package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"netdelta/internal/ctl"
)

func newSecret() *cobra.Command {
	return &cobra.Command{
		Use:   "secret",
		Short: "Print a new secret for an agent and its clients",
		Long: `Prints a new random secret of 160 bits. An agent and everyone who measures
with it are given the same one; who does not have it gets no further than
the first bytes of a connection.`,
		Example: `  (umask 077; netdelta secret > secret)
  netdelta agent --secret-file secret
  scp -p secret other-host:`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printed(fmt.Fprintln(cmd.OutOrStdout(), ctl.NewSecret().Reveal()))
		},
	}
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError("%s takes no arguments, got %q", cmd.Name(), args[0])
	}
	return nil
}

// securityFlags say how control connections are secured. They are the same at
// both ends.
type securityFlags struct {
	secretFile string
	insecure   bool
}

func (f *securityFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.secretFile, "secret-file", "", "file with the secret that both ends know (default: $"+ctl.SecretEnv+")")
	fl.BoolVar(&f.insecure, "insecure", false, "no secret and no encryption, at both ends: for an isolated bench")
}

// transport is the way to or of an agent at an address. Its errors are those
// of the command line.
func (f *securityFlags) transport(addr string) (ctl.TCP, error) {
	t := ctl.TCP{Addr: addr, Insecure: f.insecure}
	if f.insecure {
		if f.secretFile != "" {
			return t, usageError("--secret-file and --insecure exclude each other: give one of them")
		}
		return t, nil // a secret in the environment was not meant for this command
	}
	var err error
	t.Secret, err = ctl.LoadSecret(f.secretFile)
	if errors.Is(err, ctl.ErrNoSecret) {
		return t, usageError("a secret is needed: give --secret-file FILE, or set %s (netdelta secret makes a new one); or --insecure on an isolated bench", ctl.SecretEnv)
	}
	if err != nil {
		return t, &exitError{ExitUsage, err}
	}
	return t, nil
}
