package knob

import (
	"os"
	"testing"

	"netdelta/internal/labtest"
)

// roles is what the test binary does when it is started again.
var roles = map[string]func(args []string) int{
	roleVictim: victim,
	roleKeeper: keeper,
}

func TestMain(m *testing.M) {
	os.Exit(labtest.Main(m, func(args []string) (int, bool) {
		if len(args) == 0 || roles[args[0]] == nil {
			return 0, false
		}
		return roles[args[0]](args[1:]), true
	}))
}
