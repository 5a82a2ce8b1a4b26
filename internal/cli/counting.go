package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"netdelta/internal/counters"
)

// countingFlags are what a command takes that measures: what both ends' hosts
// count meanwhile.
type countingFlags struct {
	counters string
	soak     bool
}

func (f *countingFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.counters, "counters", counters.Default, "what both hosts count around each window: default, all, none, or sources, comma-separated (netdelta counters lists them)")
	fl.BoolVar(&f.soak, "soak", false, "let a loop of idle priority have what CPU time is left, and tell the cost of a test from what the loop lacks (keeps CPUs from sleeping)")
}

// sources are the names of the sources; nil for the default.
func (f *countingFlags) sources() ([]string, error) {
	if f.counters == counters.Default {
		return nil, nil
	}
	var names []string
	for _, n := range strings.Split(f.counters, ",") {
		names = append(names, strings.TrimSpace(n))
	}
	if err := counters.CheckNames(names); err != nil {
		return nil, fmt.Errorf("--counters: %w", err)
	}
	return names, nil
}
