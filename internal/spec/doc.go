// Package spec is the experiment language: tests with their parameters,
// factors with their levels, and the plan that crosses them into a seeded
// random schedule of trials. It is pure: no clock, no kernel, no files.
package spec
