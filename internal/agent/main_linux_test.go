package agent

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"netdelta/internal/labtest"
	"netdelta/internal/roles"
)

func TestMain(m *testing.M) {
	status := labtest.Main(m, roles.Dispatch)
	if status == 0 {
		if err := goleak.Find(); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			status = 1
		}
	}
	os.Exit(status)
}
