package compare

import (
	"math"
	"slices"
)

// fit is some columns of a design, made orthogonal: what can be estimated with
// them, and how.
type fit struct {
	columns [][]float64
	model   []int // the columns that are in it
	kept    []int // those of the model that are no combination of earlier ones
	q       [][]float64
	r       [][]float64 // r[j][i]: how much of q[i] is in the j-th kept column
}

// dependent is the part of a column below which it counts as a combination of
// others: far above rounding, far below what levels differ by.
const dependent = 1e-8

// newFit makes columns orthogonal one by one (Gram and Schmidt, twice, which
// keeps what is left exact).
func newFit(columns [][]float64, model []int) *fit {
	f := &fit{columns: columns, model: model}
	for _, c := range model {
		rest := slices.Clone(columns[c])
		size := math.Sqrt(dot(rest, rest))
		in := make([]float64, len(f.q), len(f.q)+1)
		for range 2 {
			for i, q := range f.q {
				part := dot(q, rest)
				in[i] += part
				for v := range rest {
					rest[v] -= part * q[v]
				}
			}
		}
		left := math.Sqrt(dot(rest, rest))
		if !(left > dependent*size) {
			continue
		}
		for v := range rest {
			rest[v] /= left
		}
		f.q, f.r, f.kept = append(f.q, rest), append(f.r, append(in, left)), append(f.kept, c)
	}
	return f
}

// weights are what each variant counts for in the least-squares estimate of a
// sum of coefficients, one number for each column; ok is false where the
// columns do not tell it. Weights that answer the question for every model in
// the columns' span and lie in that span themselves are the estimate's (Gauss
// and Markov).
func (f *fit) weights(question []float64) (w []float64, ok bool) {
	z := make([]float64, len(f.q))
	for j, c := range f.kept {
		z[j] = question[c]
		for i := range j {
			z[j] -= f.r[j][i] * z[i]
		}
		z[j] /= f.r[j][j]
	}
	w = make([]float64, len(f.columns[0]))
	for i, q := range f.q {
		for v := range w {
			w[v] += z[i] * q[v]
		}
	}
	asked := false
	for c, want := range question {
		if want == 0 {
			continue
		}
		if !slices.Contains(f.model, c) {
			return nil, false
		}
		asked = true
	}
	for _, c := range f.model {
		if math.Abs(dot(f.columns[c], w)-question[c]) > dependent*10 {
			return nil, false
		}
	}
	return w, asked
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// classes are the design's terms in groups that can't be told apart, terms of
// one factor first; nil unless any two terms are either apart (orthogonal) or
// the same. A term that does not vary is in none.
func (d *design) classes() [][]int {
	spans := make([][][]float64, len(d.terms))
	for i := range d.terms {
		spans[i] = centred(d.terms[i].columns)
		if n := len(spans[i]); n > 0 && n < len(d.terms[i].columns) {
			return nil // of some of its effects only
		}
	}
	classes := [][]int{}
	for i := range d.terms {
		if len(spans[i]) == 0 {
			continue
		}
		in := -1
		for n, class := range classes {
			for _, o := range class {
				switch shared := overlap(spans[i], spans[o]); {
				case shared < dependent:
				case math.Abs(shared-float64(len(spans[i]))) < dependent && len(spans[i]) == len(spans[o]):
					in = n
				default:
					return nil
				}
			}
		}
		if in < 0 {
			in = len(classes)
			classes = append(classes, nil)
		}
		classes[in] = append(classes[in], i)
	}
	return classes
}

// centred is an orthogonal basis of what columns span beside the mean.
func centred(columns [][]float64) [][]float64 {
	one := make([]float64, len(columns[0]))
	for v := range one {
		one[v] = 1
	}
	all := append([][]float64{one}, columns...)
	model := make([]int, len(all))
	for i := range model {
		model[i] = i
	}
	return newFit(all, model).q[1:]
}

// overlap is how many dimensions two spans have in common: the sum of the
// squared cosines between them.
func overlap(a, b [][]float64) float64 {
	sum := 0.0
	for _, x := range a {
		for _, y := range b {
			cosine := dot(x, y)
			sum += cosine * cosine
		}
	}
	return sum
}

// reduced are the columns of the mean and of one term of each class; of the
// terms of one factor where there are no classes.
func (d *design) reduced(classes [][]int) []int {
	model := []int{0}
	add := func(t *term) {
		for c := range t.columns {
			model = append(model, t.first+c)
		}
	}
	for _, class := range classes {
		add(&d.terms[class[0]])
	}
	if classes == nil {
		for i := range d.terms {
			if len(d.terms[i].factors) == 1 {
				add(&d.terms[i])
			}
		}
	}
	return model
}

// classOf is the class that a term is in; nil for none.
func classOf(classes [][]int, t int) []int {
	for _, class := range classes {
		if slices.Contains(class, t) {
			return class
		}
	}
	return nil
}
