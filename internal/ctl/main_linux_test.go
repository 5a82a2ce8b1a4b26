package ctl

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"netdelta/internal/labtest"
)

func TestMain(m *testing.M) {
	status := labtest.Main(m, nil)
	if status == 0 {
		if err := goleak.Find(); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			status = 1
		}
	}
	os.Exit(status)
}
