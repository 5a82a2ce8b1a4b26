// Package stats is the arithmetic behind a verdict: estimates of a shift with
// exact intervals, for pairs (blocks of one plan) and for separate runs; tests
// of one row and of a whole family of rows; and estimates of how many blocks a
// question needs. It is pure: no clock, no files, no hidden random state.
// Everything that draws random numbers takes a seed, and the same seed gives
// the same answer.
//
// Values that are not finite (NaN, infinities) are missing data in every
// function of this package: they are left out and never spread into a result.
// A result that no data supports is NaN.
package stats
