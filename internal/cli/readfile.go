package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/interop"
	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
	"netdelta/internal/unit"
)

// maxExport is the largest file that is read, in bytes: some thousand trials
// with full histograms. Of other programs' outputs it is interop.MaxFile.
const maxExport = 256 << 20

// readExport reads what is in a file: runs of this program, or what another one
// printed.
func readExport(name string) (side, error) {
	fail := func(err error) (side, error) { return side{}, usageError("file %s: %w", name, err) }
	data, err := readData(name)
	if err != nil {
		return fail(err)
	}
	kept, ours, err := readRunFile(data)
	switch {
	case err != nil:
		return fail(err)
	case ours:
		return side{runs: kept, files: []string{name}}, nil
	}
	out, err := interop.Read(name, data)
	if err != nil {
		return fail(err)
	}
	if !understood(&out) {
		if bytes.Contains(data, []byte(`"netdelta.`)) { // something of this program's that is no run
			if _, _, err := result.DecodeExport(data); err != nil {
				return fail(err)
			}
		}
		return side{}, notUnderstood(name, &out)
	}
	return side{runs: []compare.Kept{keptOf(&out, data)}, files: []string{name}, table: out.Table}, nil
}

// readData reads an ordinary file, or standard input for "-".
func readData(name string) ([]byte, error) {
	in := os.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			var path *fs.PathError
			if errors.As(err, &path) {
				err = path.Err
			}
			return nil, err
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
			return nil, errors.New("it is no ordinary file")
		}
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxExport+1))
	if err == nil && len(data) > maxExport {
		err = fmt.Errorf("it has more than %d MiB", maxExport>>20)
	}
	return data, err
}

// understood says that some program's output was found: figures, or that it failed.
func understood(out *interop.Outcome) bool {
	if len(out.Tests) > 0 || out.Table != nil && len(out.Table.Claims) > 0 {
		return true
	}
	for _, p := range out.Problems {
		if !strings.HasPrefix(p.Text, leftOver) {
			return true
		}
	}
	return false
}

// leftOver begins what is said of lines that no reader knew.
const leftOver = "not understood"

// notUnderstood says which lines nobody understood, and who could have.
func notUnderstood(name string, out *interop.Outcome) error {
	what := "it is empty"
	if len(out.Problems) > 0 {
		what = "nothing in it is understood: " + problemList("", out)
	}
	var tools []string
	for _, t := range interop.Tools() {
		tools = append(tools, t.Name)
	}
	return usageError("file %s: %s; outputs of these are read: %s (netdelta import --list)", name, what, strings.Join(tools, ", "))
}

// mostProblems is how many places of a file are told.
const mostProblems = 4

// problemList is what was not understood, with the lines.
func problemList(name string, out *interop.Outcome) string {
	var parts []string
	for i, p := range out.Problems {
		if i == mostProblems {
			parts = append(parts, fmt.Sprintf("and %d more", len(out.Problems)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s %s", place(name, p.Span), p.Text))
	}
	return strings.Join(parts, "; ")
}

// place is lines of a file: "post.txt:12:" or "post.txt:12-15:", and "line 12:" without
// a name.
func place(name string, s scan.Span) string {
	at := fmt.Sprint(s.From)
	if s.To > s.From {
		at = fmt.Sprintf("%d-%d", s.From, s.To)
	}
	if name == "" {
		name = "line "
	}
	return name + at + ":"
}

// keptOf makes a run of what another program printed. Its id is of the content, so
// that the same output is the same run wherever it comes from.
func keptOf(out *interop.Outcome, data []byte) compare.Kept {
	sum := sha256.Sum256(data)
	k := compare.Kept{Run: result.Run{
		ID: result.RunID(binary.LittleEndian.Uint64(sum[:])), State: result.Complete, Notes: "imported from " + out.Name,
	}}
	if len(out.Problems) > 0 {
		k.Run.Warnings = append(k.Run.Warnings, result.Warning{Code: "import-problem", Text: problemList(out.Name+":", out)})
	}
	type place struct{ test, variant string }
	times := map[place]int{}
	for i, t := range out.Tests {
		x := result.ImportedTrial(t.Imported, t.Warnings...)
		x.Variant, x.Order = t.Variant, i
		at := place{x.Test.String(), fmt.Sprint(x.Variant)} // a map is printed in the order of its keys
		x.Block = times[at]
		times[at]++
		k.Trials = append(k.Trials, x)
	}
	return k
}

// figuresIn is how many figures an outcome has.
func figuresIn(out *interop.Outcome) int {
	n := 0
	for i := range out.Tests {
		n += len(out.Tests[i].Figures)
	}
	return n
}

// found says how much was made of a file.
func found(out *interop.Outcome) string {
	return unit.Count(len(out.Tests), "test") + " with " + unit.Count(figuresIn(out), "figure")
}
