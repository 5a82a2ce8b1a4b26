package cli

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"netdelta/internal/spec"
)

// explainFlag has a command tell where the time of round trips goes.
type explainFlag struct{ value string }

func (f *explainFlag) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.value, "explain", "", "run each test of round trips a second time with some of them watched, and tell in which stages their time goes; `WAY` is what tells: "+strings.Join(spec.ExplainWays(), ", "))
	fl.Lookup("explain").NoOptDefVal = spec.ExplainAuto
}

// way is what was asked for; empty for nothing.
func (f *explainFlag) way() (string, error) {
	if f.value != "" && !slices.Contains(spec.ExplainWays(), f.value) {
		return "", usageError("--explain %q is none: valid are %s", f.value, strings.Join(spec.ExplainWays(), ", "))
	}
	return f.value, nil
}
