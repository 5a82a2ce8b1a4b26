// Package labtest helps tests that need a kernel: skips with a reason,
// namespaces that vanish, and a check that nothing was left behind.
package labtest

import (
	"os"
	"testing"

	"netdelta/internal/feature"
)

// requireVar set to "all" turns skips into failures, so that a machine that
// is meant to run every test cannot pass by running none.
const requireVar = "NETDELTA_TEST_REQUIRE"

// Need skips the test unless all probes succeed, with the reason; it fails
// the test instead if NETDELTA_TEST_REQUIRE=all.
func Need(t testing.TB, probes ...feature.Probe) {
	t.Helper()
	for _, p := range probes {
		if err := p.Err(); err != nil {
			Skip(t, err)
		}
	}
}

// Skip skips the test for a reason that lies in the system, as Need does.
func Skip(t testing.TB, reason error) {
	t.Helper()
	if os.Getenv(requireVar) == "all" {
		t.Fatalf("%s=all, but %v", requireVar, reason)
	}
	t.Skip(reason)
}
