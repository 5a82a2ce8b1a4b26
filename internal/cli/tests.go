package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/traffic"
)

func newTests() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "tests [TEST]",
		Short: "List the tests, their parameters and methods, and what this system has",
		Long: `Lists the tests that --tests takes, or the parameters of one of them, and the
methods of sending and receiving. Each method is tried on this system; one
that it does not have is listed with the reason.`,
		Example: `  netdelta tests
  netdelta tests tcp_stream`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError("tests takes one test, got %d: %s", len(args), strings.Join(args, " "))
			}
			kinds := spec.Kinds()
			if len(args) == 1 {
				k, ok := spec.KindOf(args[0])
				if !ok {
					return usageError("unknown test %q: valid are %s", args[0], strings.Join(spec.TestNames(), ", "))
				}
				kinds = []spec.Kind{k}
			}
			switch format {
			case "text":
				return printTests(cmd.OutOrStdout(), kinds, len(args) == 1)
			case "json":
				return printJSON(cmd.OutOrStdout(), listTests(kinds))
			}
			return usageError("unknown format %q: valid are text, json", format)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	return cmd
}

// testList is the list as JSON.
type testList struct {
	Schema  string         `json:"schema"`
	Tests   []testEntry    `json:"tests"`
	Methods []methodStatus `json:"methods"`
}

type testEntry struct {
	Name   string       `json:"test"`
	About  string       `json:"about"`
	Usual  bool         `json:"usual"` // runs unless others are asked for
	Params []paramEntry `json:"params"`
}

type paramEntry struct {
	Name    string `json:"name"`
	Form    string `json:"form"`
	About   string `json:"about"`
	Default string `json:"default,omitempty"`
}

// methodStatus is one method of one protocol; Why is empty if this system has
// it.
type methodStatus struct {
	Parameter string        `json:"parameter"` // send or recv
	Name      string        `json:"method"`
	Protocol  spec.Protocol `json:"protocol"`
	About     string        `json:"about"`
	Available bool          `json:"available"`
	Why       string        `json:"why,omitempty"`
}

func listTests(kinds []spec.Kind) testList {
	l := testList{Schema: "netdelta.tests/1", Tests: []testEntry{}, Methods: []methodStatus{}}
	protocols := map[spec.Protocol]bool{}
	for _, k := range kinds {
		e := testEntry{Name: k.Name, About: k.About, Params: []paramEntry{}}
		for _, name := range spec.UsualTests() {
			e.Usual = e.Usual || name == k.Name
		}
		for _, p := range k.Params() {
			e.Params = append(e.Params, paramEntry{p.Name, p.Form, p.About, p.Default})
			if p.Name == "send" {
				protocols[k.Protocol] = true
			}
		}
		l.Tests = append(l.Tests, e)
	}
	for _, table := range []struct {
		parameter, role string
		methods         []spec.Method
	}{{"send", result.Local, spec.SendMethods()}, {"recv", result.Remote, spec.RecvMethods()}} {
		for _, m := range table.methods {
			for _, p := range m.Protocols {
				if protocols[p] {
					l.Methods = append(l.Methods, status(table.parameter, table.role, m, p))
				}
			}
		}
	}
	return l
}

// status tries a method.
func status(parameter, role string, m spec.Method, p spec.Protocol) methodStatus {
	s := methodStatus{Parameter: parameter, Name: m.Name, Protocol: p, About: m.About}
	tests, err := spec.ParseTests(fmt.Sprintf("%s_stream %s=%s", p, parameter, m.Name), nil)
	if err == nil {
		err = traffic.Refused(tests[0], role)
	}
	if err != nil {
		s.Why = err.Error()
	}
	s.Available = err == nil
	return s
}

// printTests writes lines of at most 72 columns where words allow it.
func printTests(w io.Writer, kinds []spec.Kind, one bool) error {
	l := listTests(kinds)
	var b strings.Builder
	for _, t := range l.Tests {
		usual := ""
		if t.Usual {
			usual = " *"
		}
		fmt.Fprintf(&b, "%-11s %s%s\n", t.Name, t.About, usual)
		if !one {
			continue
		}
		fmt.Fprintln(&b, "\nParameters, as in \""+example(t)+"\"")
		for _, p := range t.Params {
			about := p.About
			if p.Default != "" {
				about += " (" + p.Default + ")"
			}
			fold(&b, fmt.Sprintf("  %s=%s", p.Name, p.Form), about, 21)
		}
	}
	if !one {
		fmt.Fprintln(&b, "\n* runs unless others are asked for. Parameters: netdelta tests TEST")
	}
	for _, part := range []struct{ parameter, title string }{{"send", "Send methods"}, {"recv", "Receive methods"}} {
		printMethods(&b, part.title+", "+part.parameter+"=", part.parameter, l.Methods)
	}
	return printed(io.WriteString(w, b.String()))
}

// example is a test with the first parameter that has a value to show.
func example(t testEntry) string {
	for _, p := range t.Params {
		if p.Default != "" {
			return fmt.Sprintf("%s %s=%s", t.Name, p.Name, p.Default)
		}
	}
	return t.Name
}

// printMethods writes the methods of one direction, those of both protocols
// in a line where they agree.
func printMethods(b *strings.Builder, title, parameter string, all []methodStatus) {
	begun := false
	for i, m := range all {
		if m.Parameter != parameter || i > 0 && all[i-1].Parameter == parameter && all[i-1].Name == m.Name && all[i-1].Why == m.Why {
			continue
		}
		if !begun {
			fmt.Fprintf(b, "\n%s\n", title)
			begun = true
		}
		protocols := string(m.Protocol)
		if i+1 < len(all) && all[i+1].Parameter == parameter && all[i+1].Name == m.Name && all[i+1].Why == m.Why {
			protocols += " " + string(all[i+1].Protocol)
		}
		text := m.About
		if !m.Available {
			text = "not here: " + oneLine(m.Why)
		}
		fold(b, fmt.Sprintf("  %-10s %s", m.Name, protocols), text, 21)
	}
}

// fold writes a name and a text beside it, in lines of up to 72 columns.
func fold(b *strings.Builder, name, text string, indent int) {
	const width = 72
	line := fmt.Sprintf("%-*s", indent, name)
	if len(name) >= indent {
		b.WriteString(name + "\n")
		line = strings.Repeat(" ", indent)
	}
	empty := true
	for _, word := range strings.Fields(text) {
		if !empty && len(line)+1+len(word) > width {
			b.WriteString(line + "\n")
			line, empty = strings.Repeat(" ", indent), true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}
