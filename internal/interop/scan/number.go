package scan

import (
	"math"
	"strconv"
	"strings"
)

// Number reads a plain decimal number as programs print them: a point, an exponent,
// and commas between thousands. A number that is none, below zero, infinite or not a
// number says false.
func Number(text string) (float64, bool) {
	if groups := strings.Split(text, ","); len(groups) > 1 {
		whole, fraction, _ := strings.Cut(groups[len(groups)-1], ".")
		for i, g := range append(groups[1:len(groups)-1], whole) {
			if len(g) != 3 || i == 0 && len(groups[0]) > 3 {
				return 0, false
			}
		}
		text = strings.Join(groups[:len(groups)-1], "") + whole
		if fraction != "" {
			text += "." + fraction
		}
	}
	if text == "" || strings.ContainsAny(text, "xXpP_+iInN") && !strings.ContainsAny(text, "eE") {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return 0, false
	}
	return v + 0, true // no zero with a sign
}
