// Package spec is the experiment language: tests with their parameters, knobs
// and what levels of factors set them to, and the plan that crosses them into a
// seeded random schedule of trials; on command lines and in plan files. It is
// pure: no clock, no kernel, no files.
package spec
