package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"netdelta/internal/lab"
	"netdelta/internal/report"
	"netdelta/internal/spec"
	"netdelta/internal/store"
	"netdelta/internal/store/sqlite"
)

// offer is what a shell may complete a word to; files says that names of files may
// stand there too.
type offer struct {
	words func(cmd *cobra.Command) []string
	files bool
}

// argumentOffers are the arguments of commands, and flagOffers the values of flags
// whatever command has them.
func argumentOffers() map[string]offer {
	return map[string]offer{
		"lab":      {words: func(*cobra.Command) []string { return experimentNames() }},
		"tests":    {words: func(*cobra.Command) []string { return spec.TestNames() }},
		"show":     {keptNames, true},
		"compare":  {keptNames, true},
		"plot":     {keptNames, true},
		"export":   {keptNames, false},
		"rm":       {keptNames, false},
		"baseline": {keptNames, false},
	}
}

func flagOffers() map[string]offer {
	words := func(all ...string) func(*cobra.Command) []string {
		return func(*cobra.Command) []string { return all }
	}
	return map[string]offer{
		"format":  {words: words(report.FormatNames()...)},
		"color":   {words: words("auto", "always", "never")},
		"link":    {words: words("ether", "veth")},
		"lab":     {words: words("ether", "veth")},
		"tests":   {words: words(spec.TestNames()...)},
		"test":    {words: words(spec.TestNames()...)},
		"against": {keptNames, true},
		"fail-on": {words: words("worse", "better", "different", "unsure")},
	}
}

// offerWords has the shell complete what the tables know.
func offerWords(root *cobra.Command) {
	arguments, flags := argumentOffers(), flagOffers()
	for _, cmd := range commands(root) {
		if o, ok := arguments[cmd.Name()]; ok {
			cmd.ValidArgsFunction = o.complete
		}
		for name, o := range flags {
			if cmd.Flags().Lookup(name) != nil {
				// It fails for a flag that there is not, or that has one already.
				_ = cmd.RegisterFlagCompletionFunc(name, o.complete)
			}
		}
	}
}

func (o offer) complete(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp
	if o.files {
		directive = cobra.ShellCompDirectiveDefault
	}
	all := slices.DeleteFunc(slices.Clone(o.words(cmd)), func(w string) bool { return !strings.HasPrefix(w, begun) })
	return all, directive
}

func experimentNames() []string {
	var names []string
	for _, e := range lab.Experiments() {
		names = append(names, e.Name)
	}
	return names
}

// mostOffered is how many runs a shell is offered, the newest.
const mostOffered = 50

// keptNames are the labels, ids and baselines of the store that the command line has.
// One that can't be opened at once offers nothing.
func keptNames(cmd *cobra.Command) []string {
	path := ""
	if f := cmd.Flags().Lookup("store"); f != nil {
		path = f.Value.String()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s, err := sqlite.Open(ctx, path, sqlite.Options{MustExist: true, BusyTimeout: 100 * time.Millisecond})
	if err != nil {
		return nil
	}
	defer s.Close()
	var names []string
	add := func(name string) {
		if name != "" && !strings.ContainsAny(name, " \t\n") && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if marked, err := s.Baselines(ctx); err == nil {
		for _, b := range marked {
			add(store.BaselineMark + b.Name)
		}
	}
	runs, err := s.Runs(ctx, store.Filter{Limit: mostOffered})
	if err != nil {
		return names
	}
	for _, r := range runs {
		add(r.Label)
	}
	for _, r := range runs {
		add(r.ID)
	}
	return names
}
