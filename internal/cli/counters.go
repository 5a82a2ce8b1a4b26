package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"netdelta/internal/counters"
)

func newCounters() *cobra.Command {
	var format, device string
	cmd := &cobra.Command{
		Use:   "counters",
		Short: "List what is counted around each window, and what this system has of it",
		Long: `Lists the sources that --counters takes. Each is opened on this system; one
that it does not have, or that this user may not read, is listed with the
reason. Those marked with a star are read unless others are asked for.`,
		Example: `  netdelta counters
  netdelta counters --device eth0`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError("counters takes no arguments, got %s", strings.Join(args, " "))
			}
			switch format {
			case "text":
				return printCounters(cmd.OutOrStdout(), listCounters(device))
			case "json":
				return printJSON(cmd.OutOrStdout(), listCounters(device))
			}
			return usageError("unknown format %q: valid are text, json", format)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	cmd.Flags().StringVar(&device, "device", "lo", "interface of which the sources of interfaces are tried")
	return cmd
}

// counterList is the list as JSON.
type counterList struct {
	Schema  string         `json:"schema"`
	Sources []counterEntry `json:"sources"`
}

type counterEntry struct {
	Name    string `json:"source"`
	About   string `json:"about"`
	Default bool   `json:"default"`
	// Why is empty if this system has it.
	Why string `json:"unavailable,omitempty"`
}

func listCounters(device string) counterList {
	list := counterList{Schema: "netdelta.counters/1"}
	why := counters.Try(device)
	for i, s := range counters.Sources() {
		e := counterEntry{Name: s.Name, About: s.About, Default: s.Default}
		if why[i] != nil {
			e.Why = why[i].Error()
		}
		list.Sources = append(list.Sources, e)
	}
	return list
}

// printCounters writes lines of at most 72 columns where words allow it.
func printCounters(w io.Writer, list counterList) error {
	const indent = 14
	var b strings.Builder
	for _, s := range list.Sources {
		star := " "
		if s.Default {
			star = "*"
		}
		fold(&b, star+" "+s.Name, s.About, indent)
		if s.Why != "" {
			fold(&b, "", "not here: "+oneLine(s.Why), indent)
		}
	}
	return printed(io.WriteString(w, b.String()))
}
