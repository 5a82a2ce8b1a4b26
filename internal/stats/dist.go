package stats

import "math"

// normalTail returns the probability that a standard normal value exceeds z.
func normalTail(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// normalQuantile returns the value below which a standard normal value lies
// with probability p, 0 < p < 1.
func normalQuantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }

// tTail returns the probability that Student's t with df degrees of freedom
// exceeds t. df need not be whole.
func tTail(t, df float64) float64 {
	if math.IsNaN(t) || !(df > 0) {
		return math.NaN()
	}
	if math.IsInf(df, 1) {
		return normalTail(t)
	}
	// The two tails together (Abramowitz and Stegun, 26.5.27).
	both := incompleteBeta(df/2, 0.5, 1/(1+t*t/df), 1/(1+df/(t*t)))
	if t < 0 {
		return 1 - both/2
	}
	return both / 2
}

// tQuantile returns the value below which Student's t with df degrees of
// freedom lies with probability p; infinite for p of 0 or 1.
func tQuantile(p, df float64) float64 {
	switch {
	case math.IsNaN(p) || p < 0 || p > 1 || !(df > 0):
		return math.NaN()
	case p < 0.5:
		return -upperTQuantile(p, df)
	}
	return upperTQuantile(1-p, df)
}

// upperTQuantile returns the t that is exceeded with probability tail, which
// is at most a half.
func upperTQuantile(tail, df float64) float64 {
	if tail == 0 {
		return math.Inf(1)
	}
	lo, hi := 0.0, 1.0
	for tTail(hi, df) > tail {
		lo, hi = hi, 2*hi
	}
	for range 60 {
		mid := (lo + hi) / 2
		if tTail(mid, df) > tail {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// incompleteBeta returns the regularised incomplete beta function I_x(a, b),
// by its continued fraction (Abramowitz and Stegun, 26.5.8) in the modified
// form of Lentz. y is 1-x: the caller knows it without cancellation.
func incompleteBeta(a, b, x, y float64) float64 {
	if x <= 0 {
		return 0
	}
	if y <= 0 {
		return 1
	}
	if x > (a+1)/(a+b+2) {
		// The fraction converges fast on the other side only.
		return 1 - incompleteBeta(b, a, y, x)
	}
	front := math.Exp(lgamma(a+b) - lgamma(a) - lgamma(b) + a*math.Log(x) + b*math.Log(y))
	const tiny, enough, steps = 1e-300, 1e-16, 10000
	away := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c := 1.0
	d := 1 / away(1-(a+b)*x/(a+1))
	h := d
	for i := 1; i < steps; i++ {
		m := float64(i)
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / away(1+even*d)
		c = away(1 + even/c)
		h *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / away(1+odd*d)
		c = away(1 + odd/c)
		step := d * c
		h *= step
		if math.Abs(step-1) <= enough {
			break
		}
	}
	return front * h / a
}

// lgamma is the logarithm of the gamma function for positive x.
func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}
