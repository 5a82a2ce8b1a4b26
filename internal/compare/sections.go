package compare

import (
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// Section is a table of an experiment's own.
type Section struct {
	Name    string   `json:"name"` // for programs
	Title   string   `json:"title"`
	Columns []Column `json:"columns"` // without that of the labels
	Rows    []Line   `json:"rows"`
	// Notes are sentences below the table.
	Notes []string `json:"notes,omitempty"`
}

// Column is a column of a section.
type Column struct {
	Name string `json:"name"`
	// Unit is that of the column's values; empty for those that have none, or are
	// in percent.
	Unit    unit.Unit `json:"unit,omitempty"`
	Percent bool      `json:"percent,omitempty"`
}

// Line is a row of a section: as many cells as there are columns.
type Line struct {
	Label string  `json:"label"`
	Cells []Datum `json:"cells"`
}

// Datum is one cell: a value, with its interval if it has one, or a text; with
// neither it is n/a, and Text says why.
type Datum struct {
	Value *float64 `json:"value"`
	Lo    *float64 `json:"lo,omitempty"`
	Hi    *float64 `json:"hi,omitempty"`
	Text  string   `json:"text,omitempty"`
	// Verdict is that of the comparison whose change the cell has; empty for none.
	Verdict Verdict `json:"verdict,omitempty"`
}

// Check is one thing that was to be found.
type Check struct {
	Name string `json:"name"` // "delay 20us each way"
	// Wanted and Found are in Unit; Found is null where there is no figure.
	Wanted float64   `json:"wanted"`
	Found  *float64  `json:"found"`
	Lo     *float64  `json:"lo,omitempty"` // interval of what was found
	Hi     *float64  `json:"hi,omitempty"`
	Unit   unit.Unit `json:"unit,omitempty"`
	// Within is how far from Wanted is let pass, in Unit; 0 for exact.
	Within float64 `json:"within"`
	Pass   bool    `json:"pass"`
	// Unsure says that what was found is too far off and its interval is not: it is
	// neither passed nor failed.
	Unsure bool `json:"unsure,omitempty"`
	// Text says what there is to say beside the figures, or why there are none.
	Text string `json:"text,omitempty"`
}

// Failed says that the check was made, and that what was found is off for sure.
func (c *Check) Failed() bool { return c.Found != nil && !c.Pass && !c.Unsure }

// Beside is the figure of a test that no factor has to do with.
type Beside struct {
	Test   string      `json:"test"`
	Params spec.Params `json:"params"`
	Metric string      `json:"metric"`
	Unit   unit.Unit   `json:"unit"`
	Summary
	N int `json:"n"` // trials
}

// Of is the test whose figure it is.
func (b *Beside) Of() spec.Test { return spec.Test{Name: b.Test, Params: b.Params} }

// Each is the round trips of one trial in their order.
type Each struct {
	Test    string      `json:"test"`
	Params  spec.Params `json:"params"`
	Variant string      `json:"variant"`
	Block   int         `json:"block"` // from 0
	// RTT is in ns; -1 for a request that was given up.
	RTT []int64 `json:"rtt_ns"`
	// Of is how many round trips the window had.
	Of int64 `json:"of"`
}
