package result

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// Imported is what another program printed of one test, or a person posted of
// one: figures that are there already, in place of what two ends of ours counted.
type Imported struct {
	// Tool is the program's name as package interop has it, "netperf"; "table" for
	// figures of which no more is known than their names.
	Tool string `json:"tool"`
	// Version is the program's own word of it; empty where it did not say.
	Version string `json:"version,omitempty"`
	// Name is the program's name of the test: "TCP_STREAM".
	Name string `json:"name"`
	// Params set tests of one name apart: only those that have all of them alike
	// are compared. A message's size is one, and so are the number of flows and
	// their direction; a time that it took is none.
	Params []Fact `json:"params,omitempty"`
	// Facts are what else was said of the test: its length, its sockets, its peer.
	// Of two sides that differ in one, a report says so.
	Facts []Fact `json:"facts,omitempty"`
	// Source is the file that it was read from, without its folder, Line and To the
	// first and the last line of it, from 1; 0 where there is no such place.
	Source string `json:"source,omitempty"`
	Line   int    `json:"line,omitempty"`
	To     int    `json:"to,omitempty"`
	// Figures has each taken at an end once.
	Figures []ImportedFigure `json:"figures"`
}

// ImportedFigure is one figure as it was printed, in the unit of its metric.
type ImportedFigure struct {
	Metric string `json:"metric"`
	// End is where the program took it: Local (which started the test), Remote, or
	// empty where it does not say and can't be known.
	End    string    `json:"end,omitempty"`
	Unit   unit.Unit `json:"unit"`
	Better Better    `json:"better"`
	Value  float64   `json:"value"`
	// Text is what was printed, with the unit that was printed: "174.92 MBytes/sec".
	Text string `json:"text,omitempty"`
	// Line is where; 0 where there is no such place.
	Line int `json:"line,omitempty"`
	// Values are the single ones that the figure sums up, where all were printed, in
	// their order: a ping's round trips.
	Values []float64 `json:"values,omitempty"`
	// WidthPct is the full width of the program's own confidence interval in percent
	// of the value, and LevelPct its level; 0 where it gave none.
	WidthPct float64 `json:"width_pct,omitempty"`
	LevelPct float64 `json:"level_pct,omitempty"`
}

// Taken says which figure it is.
func (f *ImportedFigure) Taken() Taken { return Taken{f.Metric, f.End} }

// Test is the imported test as one of a trial: its name has all that sets it apart.
func (m *Imported) Test() spec.Test {
	name := m.Tool + " " + m.Name
	if m.Tool == PostedTable {
		name = m.Name
	}
	for _, p := range m.Params {
		name += " " + p.Name + "=" + strings.ReplaceAll(p.Value, " ", "_")
	}
	return spec.Test{Name: name}
}

// PostedTable is the tool of figures of which no more is known than their names.
const PostedTable = "table"

// Definitions are the metrics that the figures are of, in the order in which
// reports show them.
func (m *Imported) Definitions() []Definition {
	all := make([]Definition, len(m.Figures))
	for i := range m.Figures {
		all[i] = m.Figures[i].definition()
	}
	slices.SortStableFunc(all, func(a, b Definition) int { return importedPlace(a.Name) - importedPlace(b.Name) })
	return all
}

// Figure is the one taken there; nil if there is none.
func (m *Imported) Figure(t Taken) *ImportedFigure {
	for i := range m.Figures {
		if m.Figures[i].Taken() == t {
			return &m.Figures[i]
		}
	}
	return nil
}

// ImportedTrial is a trial of a test that another program made.
func ImportedTrial(m Imported, warnings ...Warning) Trial {
	return Trial{Test: m.Test(), Local: End{Role: Local}, Imported: &m, Warnings: warnings}
}

// maxImported are the most figures, parameters or facts of one test, and the most
// single values of a figure.
const (
	maxImported       = 10_000
	maxImportedValues = 1_000_000
	maxImportedText   = 4096
)

// validate reports the first thing in it that can't be.
func (m *Imported) validate() error {
	if m.Tool == "" || m.Name == "" {
		return errors.New("imported: it lacks its tool or the name of its test")
	}
	if len(m.Figures) > maxImported || len(m.Params) > maxImported || len(m.Facts) > maxImported {
		return fmt.Errorf("imported: more than %d figures, parameters or facts", maxImported)
	}
	if m.Line < 0 || m.To < m.Line {
		return fmt.Errorf("imported: lines %d to %d can't be", m.Line, m.To)
	}
	for i := range m.Figures {
		f := &m.Figures[i]
		if err := f.validate(); err != nil {
			return fmt.Errorf("imported: %s: %w", shorten(f.Metric), err)
		}
		if m.Figure(f.Taken()) != f {
			return fmt.Errorf("imported: %s %s is there twice", shorten(f.Metric), f.End)
		}
	}
	return nil
}

func (f *ImportedFigure) validate() error {
	switch {
	case f.Metric == "":
		return errors.New("a figure lacks its name")
	case f.End != "" && f.End != Local && f.End != Remote:
		return fmt.Errorf("end %q: %s, %s or none is needed", shorten(f.End), Local, Remote)
	case f.Better != Lower && f.Better != Higher:
		return fmt.Errorf("better %q: %s or %s is needed", shorten(string(f.Better)), Lower, Higher)
	case len(f.Text) > maxImportedText:
		return fmt.Errorf("its text is longer than %d bytes", maxImportedText)
	case len(f.Values) > maxImportedValues:
		return fmt.Errorf("more than %d single values", maxImportedValues)
	case f.WidthPct < 0 || f.LevelPct < 0 || f.LevelPct > 100:
		return fmt.Errorf("an interval of %v%% at %v%% can't be", f.WidthPct, f.LevelPct)
	}
	for _, v := range append([]float64{f.Value, f.WidthPct, f.LevelPct}, f.Values...) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%v is no figure", v)
		}
		if v < 0 {
			return fmt.Errorf("%v is below zero", v)
		}
	}
	return nil
}

// validateImported is Validate of a trial that was imported.
func (t *Trial) validateImported() error {
	if err := t.Imported.validate(); err != nil {
		return err
	}
	if want := t.Imported.Test(); t.Test != want {
		return fmt.Errorf("test %q of an import: it is %q", t.Test, want)
	}
	if t.Remote != nil || t.Local.RTT != nil || t.Local.Messages != 0 || t.Local.Counters != nil {
		return errors.New("an import has figures of its own, and none of an end")
	}
	return nil
}

// derivedImported is what an imported trial gives.
func (t *Trial) derivedImported() derived {
	x := derived{told: map[Taken]bool{}}
	for i := range t.Imported.Figures {
		f := &t.Imported.Figures[i]
		x.metrics = append(x.metrics, Metric{Name: f.Metric, End: f.End, Unit: f.Unit, Better: f.Better, Value: f.Value})
		x.told[f.Taken()] = true
	}
	return x
}
