// Package counters tells what of this machine bears on its figures, read from
// the kernel outside of any measured window.
package counters

import (
	"runtime"
	"strconv"
	"strings"

	"netdelta/internal/result"
)

// Fact is one thing about the machine that bears on its figures.
type Fact = result.Fact

// fact is a row of a system's table of facts. A fact that this system cannot
// tell is left out: no figure stands for an unknown.
type fact struct {
	name string
	// read looks below root, "/" but for tests, where the system tells by files.
	read func(root string) string
}

func system(string) string    { return runtime.GOOS + "/" + runtime.GOARCH }
func cpus(string) string      { return strconv.Itoa(runtime.NumCPU()) + " usable" }
func goVersion(string) string { return runtime.Version() }

// Environment reads the machine's facts, those of the network in the thread's
// own namespace. It never fails: what cannot be read is not in the list. Two
// calls tell the same unless something was changed meanwhile: what the machine
// is doing is no fact of it.
func Environment() []Fact { return environment("/") }

func environment(root string) []Fact {
	var out []Fact
	for _, f := range facts {
		if v := f.read(root); v != "" {
			out = append(out, Fact{Name: f.name, Value: short(v)})
		}
	}
	for _, f := range details(root) {
		out = append(out, Fact{Name: f.Name, Value: short(f.Value)})
	}
	return out
}

// maxValue is the longest value of a fact, in bytes.
const maxValue = 200

// short is a value on one line that is no longer than one may be.
func short(v string) string {
	v = strings.Join(strings.Fields(v), " ")
	if len(v) > maxValue {
		v = strings.ToValidUTF8(v[:maxValue-3], "") + "..."
	}
	return v
}
