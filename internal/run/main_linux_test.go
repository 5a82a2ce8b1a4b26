package run

import (
	"os"
	"testing"

	"netdelta/internal/labtest"
	"netdelta/internal/roles"
)

// The binary of these tests is also its own workers and wire.
func TestMain(m *testing.M) { os.Exit(labtest.Main(m, roles.Dispatch)) }
