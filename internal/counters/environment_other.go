//go:build !(linux || darwin || freebsd)

package counters

// facts is the table of what Environment reports, in its order.
var facts = []fact{
	{"system", system},
	{"cpus", cpus},
	{"go", goVersion},
}
