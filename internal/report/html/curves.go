package html

import (
	"math"
	"strconv"
	"strings"

	"netdelta/internal/picture"
)

// curve is a figure as the page's script draws it.
type curve struct {
	ID     string `json:"id"`
	X      axis   `json:"x"`
	Y      axis   `json:"y"`
	Points bool   `json:"points"`
	Series []line `json:"series"`
}

type axis struct {
	Label string    `json:"label"`
	Log   bool      `json:"log"`
	Ticks []float64 `json:"ticks,omitempty"`
	Names []string  `json:"names,omitempty"`
	// Beyond says that the values are 1/(1-p) of percentiles p: what is said of one is p.
	Beyond bool `json:"beyond,omitempty"`
}

type line struct {
	Name    string    `json:"name"`
	Variant int       `json:"v"`
	Step    bool      `json:"step"`
	X       []float64 `json:"x"`
	Y       []float64 `json:"y"`
	Lo      []float64 `json:"lo,omitempty"`
	Hi      []float64 `json:"hi,omitempty"`
}

func curveOf(id string, f *picture.Figure) curve {
	c := curve{ID: id, X: axisOf(f.X), Y: axisOf(f.Y), Points: f.Kind == picture.Points}
	c.X.Beyond = strings.HasPrefix(f.Name, "percentiles.")
	for _, s := range f.Series {
		l := line{Name: s.Name, Variant: s.Variant % Colors, Step: s.Step}
		bounds := len(s.Lo) == len(s.X) && len(s.Hi) == len(s.X)
		for i := range s.X {
			if !finite(s.X[i]) || !finite(s.Y[i]) || c.X.Log && s.X[i] <= 0 || c.Y.Log && s.Y[i] <= 0 {
				continue
			}
			l.X, l.Y = append(l.X, round(s.X[i])), append(l.Y, round(s.Y[i]))
			if bounds && finite(s.Lo[i]) && finite(s.Hi[i]) {
				l.Lo, l.Hi = append(l.Lo, round(s.Lo[i])), append(l.Hi, round(s.Hi[i]))
			}
		}
		if len(l.Lo) != len(l.X) {
			l.Lo, l.Hi = nil, nil
		}
		if len(l.X) > 0 {
			c.Series = append(c.Series, l)
		}
	}
	return c
}

func axisOf(a picture.Axis) axis {
	x := axis{Label: a.Label, Log: a.Log, Names: a.Categories, Ticks: a.Ticks}
	if a.Unit != "" {
		x.Label += " (" + a.Unit + ")"
	}
	if len(x.Ticks) == 0 {
		for i := range a.Categories {
			x.Ticks = append(x.Ticks, float64(i))
		}
	}
	return x
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// round keeps six digits: more can't be seen, and would be most of the file.
func round(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil {
		return v
	}
	return r
}
