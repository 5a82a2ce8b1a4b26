// Package counters tells what of this machine bears on its figures, read from
// the kernel outside of any measured window.
package counters

import (
	"runtime"
	"strconv"

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

// Environment reads the machine's facts. It never fails: what cannot be read
// is not in the list.
func Environment() []Fact { return environment("/") }

func environment(root string) []Fact {
	var out []Fact
	for _, f := range facts {
		if v := f.read(root); v != "" {
			out = append(out, Fact{Name: f.name, Value: v})
		}
	}
	return out
}
