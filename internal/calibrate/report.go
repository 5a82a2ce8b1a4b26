package calibrate

import (
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// Schema names the version of the report's JSON form.
const Schema = "netdelta.calibration/1"

// Series is all trials of one length of window: a plan with one factor of two
// levels that are the same thing, and what was measured of it.
type Series struct {
	Plan   spec.Plan
	Trials []result.Trial
}

// Report is what a path's figures can bear. No number in it is NaN or infinite;
// what could not be told is null.
type Report struct {
	Schema  string    `json:"schema"`
	Target  string    `json:"target"` // "lab" or the agents' addresses
	Seed    uint64    `json:"seed"`
	Start   time.Time `json:"start"`
	TookNS  int64     `json:"took_ns"` // from the first trial to the end of the last
	Trials  int       `json:"trials"`
	Partial bool      `json:"partial"` // it ended before its time was up
	// MarginPct is the smallest change that matters.
	MarginPct float64 `json:"margin_pct"`
	// Answer is the report in sentences.
	Answer   []string         `json:"answer"`
	Windows  []Window         `json:"windows"`
	Best     []Best           `json:"best"`
	Warnings []result.Warning `json:"warnings"`
	// Environment is the machine's facts.
	Environment []result.Fact `json:"environment,omitempty"`
	Command     string        `json:"command,omitempty"`
	Version     string        `json:"version,omitempty"`
}

// Window is what trials of one length gave.
type Window struct {
	WindowNS int64 `json:"window_ns"`
	WarmupNS int64 `json:"warmup_ns"`
	Blocks   int   `json:"blocks"` // complete ones
	Trials   int   `json:"trials"`
	// BlockNS is the time that a block takes, all of its trials with what is
	// between them; OverheadNS that part of it, for each trial, in which nothing
	// was measured. Null with fewer than two trials.
	BlockNS    *int64 `json:"block_ns"`
	OverheadNS *int64 `json:"overhead_ns"`
	// Rows is how many figures the family of a report has.
	Rows   int      `json:"rows"`
	Alarms []Alarms `json:"false_alarms"`
	Floors []Floor  `json:"noise"`
}

// Alarms is how often comparisons of so many blocks saw a difference.
type Alarms struct {
	Blocks int `json:"blocks"`
	// SpanNS is how long such a comparison took, in the median, what other windows
	// had in between included.
	SpanNS int64 `json:"span_ns"`
	// Paired are comparisons as this program makes them, of consecutive blocks in
	// the order in which they ran, none of which is in two. Redrawn are the same
	// blocks with their labels drawn anew.
	Paired  Share `json:"paired"`
	Redrawn Share `json:"redrawn"`
	// InTurn is what "all A, then all B" and Welch's t at 5% say of the same
	// trials: the first half of them against the second. It counts comparisons in
	// which any figure differs, InTurnRows single figures, InTurnHead those of
	// comparisons in which a headline figure does.
	InTurn     Share `json:"in_turn"`
	InTurnHead Share `json:"in_turn_headlines"`
	InTurnRows Share `json:"in_turn_rows"`
}

// Share is how many of how many, with the exact 95% interval of the share.
type Share struct {
	Count int      `json:"count"`
	Of    int      `json:"of"`
	Pct   *float64 `json:"pct"`
	LoPct *float64 `json:"lo_pct"`
	HiPct *float64 `json:"hi_pct"`
}

// Floor is the noise of a test's headline figure.
type Floor struct {
	Test   string      `json:"test"`
	Params spec.Params `json:"params"`
	Metric string      `json:"metric"`
	End    string      `json:"end"`
	Unit   unit.Unit   `json:"unit"`
	// Median is that of all trials, in the unit.
	Median *float64 `json:"median"`
	N      int      `json:"n"` // blocks
	// NoisePct is the standard deviation of the differences within blocks.
	NoisePct *float64 `json:"noise_pct"`
	// SwingPct is how far the figure's level moves, by running medians of 5
	// blocks; Autocorrelation is that of one block's mean with the next one's, and
	// Drifts says that it is above what chance gives.
	SwingPct        *float64 `json:"swing_pct"`
	Autocorrelation *float64 `json:"autocorrelation"`
	Drifts          bool     `json:"drifts"`
	// Detectable is the smallest change that is seen.
	Detectable []Detectable `json:"detectable"`
	// HalfWidthPct is how far the 95% interval reaches to either side, estimated
	// for as long as all windows had on average.
	HalfWidthPct *float64 `json:"half_width_pct"`
}

// Of is the test that the figure is of.
func (f *Floor) Of() spec.Test { return spec.Test{Name: f.Test, Params: f.Params} }

// Detectable is the smallest change that so many blocks see in 80%, in a report
// of as many figures as this one has; null where they can see none. Time is what
// they take.
type Detectable struct {
	Blocks    int      `json:"blocks"`
	EffectPct *float64 `json:"effect_pct"`
	TimeNS    *int64   `json:"time_ns"`
}

// Best is the length of window that suits a test's headline figure.
type Best struct {
	Test     string      `json:"test"`
	Params   spec.Params `json:"params"`
	Metric   string      `json:"metric"`
	WindowNS int64       `json:"window_ns"`
	// Sure says that the others are worse by more than the uncertainty of their
	// noise.
	Sure bool `json:"sure"`
	// ForNS is the time for which the windows are compared.
	ForNS int64 `json:"for_ns"`
	// Limit is what keeps it from being better, and Why says it in words.
	Limit Limit  `json:"limit"`
	Why   string `json:"why"`
}

// Limit is what a path's precision for a given time is bounded by.
type Limit string

const (
	// ByOverhead: shorter windows lose too much time between them.
	ByOverhead Limit = "overhead"
	// ByDrift: longer windows are no steadier for their length, since the path drifts
	// or since trials differ whatever their length.
	ByDrift Limit = "drift"
	// ByNoise: neither; only more time helps.
	ByNoise Limit = "noise"
	// Untold: one window, or too few blocks.
	Untold Limit = "unknown"
)

// number makes a nullable number; null for what JSON does not have.
func number(v float64) *float64 {
	if v-v != 0 {
		return nil
	}
	return &v
}

// Unmeasured is those of the tests of which no window has a headline figure:
// nothing came through.
func (r *Report) Unmeasured(tests []spec.Test) []spec.Test {
	var silent []spec.Test
	for _, t := range tests {
		there := false
		for i := range r.Windows {
			for j := range r.Windows[i].Floors {
				there = there || r.Windows[i].Floors[j].Of() == t
			}
		}
		if !there {
			silent = append(silent, t)
		}
	}
	return silent
}
