package unit

import (
	"errors"
	"math/big"
	"strings"
)

// maxText is the longest quantity that is read, in bytes. The longest one
// that means anything is 2^-43 of a TiB/s (one bit per second), 43 digits.
const maxText = 64

// Ways in which a text isn't an exact whole number of base units. Each reader
// adds the text and what it reads.
var (
	errLong     = errors.New("too long")
	errEmpty    = errors.New("empty")
	errNegative = errors.New("negative")
	errNumber   = errors.New("no plain decimal number in front")
	errFraction = errors.New("not a whole number")
)

// split takes a quantity apart into its plain decimal number, such as 12 or
// 1.5, and the unit that follows it, which may be empty. One blank may stand
// between them. There are no signs, exponents or digit groups.
func split(s string) (number, unit string, err error) {
	switch {
	case s == "":
		return "", "", errEmpty
	case len(s) > maxText:
		return "", "", errLong
	case s[0] == '-':
		return "", "", errNegative
	}
	end := strings.IndexFunc(s, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end < 0 {
		end = len(s)
	}
	number, unit = s[:end], s[end:]
	whole, fraction, point := strings.Cut(number, ".")
	if whole == "" || point && (fraction == "" || strings.Contains(fraction, ".")) {
		return "", "", errNumber
	}
	if trimmed, blank := strings.CutPrefix(unit, " "); blank && trimmed != "" {
		unit = trimmed
	}
	return number, unit, nil
}

// times multiplies a number from split by factor, exactly. It fails with
// errFraction when the product is not a whole number.
func times(number string, factor uint64) (*big.Int, error) {
	whole, fraction, _ := strings.Cut(number, ".")
	product, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return nil, errNumber
	}
	product.Mul(product, new(big.Int).SetUint64(factor))
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(fraction))), nil)
	if _, rest := product.QuoRem(product, power, new(big.Int)); rest.Sign() != 0 {
		return nil, errFraction
	}
	return product, nil
}
