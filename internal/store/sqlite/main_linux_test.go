package sqlite

import (
	"os"
	"testing"

	"netdelta/internal/labtest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m, dispatch)) }
