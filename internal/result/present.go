package result

import "slices"

// NotAsked is the code of the reason for a metric whose counters the end's
// host was not asked to read.
const NotAsked = "not-asked"

// Tells says which figures a trial has, or has a reason of its own to lack; and
// for what it lacks only since nobody counted it, the warnings that say so.
// Derive and AllWarnings leave those out: they are of use beside trials that
// have the figure.
func (t *Trial) Tells() (told map[Taken]bool, uncounted []Warning) {
	d := t.derived()
	return d.told, d.uncounted
}

// Present is the metrics of which a report has rows: all but those that a host
// counts only if it is asked to and can, and that none of the report's trials of
// the test tells of.
func Present(of []Definition, told func(Taken) bool) []Definition {
	return slices.DeleteFunc(slices.Clone(of), func(d Definition) bool { return d.need == optional && !told(d.Taken()) })
}
