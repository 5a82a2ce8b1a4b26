package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// pagesDate is the date that manual pages have: one by which the same program makes
// the same pages.
var pagesDate = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

func newMan() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "man [FOLDER]",
		Short: "Print the manual page, or write those of all commands",
		Long: `Prints netdelta(1) as roff, or writes a page for each command into a folder,
which is made if it is not there. man -l shows one; section 1 of a folder that
MANPATH names is where man looks for them.`,
		Example: `  netdelta man > netdelta.1
  netdelta man share/man/man1`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError("man takes one folder, got %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return manPage(cmd.Root(), cmd.OutOrStdout())
			}
			return manPages(cmd.Root(), args[0])
		},
	}
	return cmd
}

func header() *doc.GenManHeader {
	return &doc.GenManHeader{Section: "1", Source: "netdelta " + Version, Manual: "netdelta", Date: &pagesDate}
}

func manPage(cmd *cobra.Command, w io.Writer) error {
	cmd.DisableAutoGenTag = true
	return doc.GenMan(cmd, header(), w)
}

// manPages writes a page for every command.
func manPages(root *cobra.Command, folder string) error {
	failed := func(err error) error {
		return &exitError{ExitUnmeasured, fmt.Errorf("write manual pages into %s: %w", folder, err)}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return failed(err)
	}
	for _, c := range commands(root) {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		to := outputFile{filepath.Join(folder, name)}
		if err := to.put(nil, func(w io.Writer) error { return manPage(c, w) }); err != nil {
			return failed(err)
		}
	}
	return nil
}

// commands are all that a user can call, the root first.
func commands(root *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{root}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			all = append(all, commands(c)...)
		}
	}
	return all
}
