// Package scan is what all readers of other programs' outputs share: a file as
// numbered lines that are free of what pasting adds, and what is found in it.
package scan

import (
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Line is one line of a file.
type Line struct {
	// No is its number, from 1.
	No int
	// Text is the line without what quoting, copying and logging put on it, and
	// without blanks at its end; Raw is the line as it is.
	Text, Raw string
}

// File is a file that may hold outputs of programs.
type File struct {
	Name  string // without its folder
	Data  []byte // as it is
	Lines []Line
}

// Span is lines of a file, both ends of it included, numbered from 1.
type Span struct{ From, To int }

// Test is one test that was found.
type Test struct {
	result.Imported
	// Variant is what the file itself says that varies; nil in a program's output.
	Variant spec.Variant
	// Warnings are what is to be said against its figures.
	Warnings []result.Warning
}

// Problem is lines from which nothing was taken although something was to be
// expected there, or of which a part was not.
type Problem struct {
	Span
	// Text says what was found and why nothing was made of it, on one line.
	Text string
}

// Found is what a reader made of a file.
type Found struct {
	Tests []Test
	// Claimed are the lines that were understood: those of tests, and what belongs to
	// them and has no figure (a banner, a rule, an interval that a total stands for).
	Claimed  []Span
	Problems []Problem
	// Table is there where the file compares variants itself.
	Table *Table
}

// Table is what a file says of its variants beside their figures.
type Table struct {
	Title string
	// Factors are what varies, each with its levels, the baseline first.
	Factors []spec.Factor
	Claims  []Claim
}

// Claim is what a post says that its figures show.
type Claim struct {
	// Says is its words.
	Says string
	// Test, Metric and End name the row, as the report names it; End may be empty.
	Test, Metric, End string
	// Under has levels of the other factors; nil where there are none.
	Under spec.Variant
	// Factor is what varies, Level and Against two of its levels.
	Factor, Level, Against string
	// Times is the claimed ratio of Level's figure to Against's, or 0; ChangePct the
	// claimed change in percent, where Times is 0.
	Times, ChangePct float64
	// AtLeast says that more than that is claimed too.
	AtLeast bool
	// WithinPct is how far the claim may be off in percent of what is found (of a
	// change: in percentage points) and still be borne; 0 stands for what rounding
	// to the digits of the claim does.
	WithinPct float64
	Line      int
}

// Reader finds a program's outputs in a file. It must take any file: what is none of
// its program's it leaves alone.
type Reader func(*File) Found
