// Package roles starts the processes that netdelta makes of its own binary.
package roles

import (
	"strings"

	"netdelta/internal/ether"
	"netdelta/internal/netlab"
	"netdelta/internal/sys"
	"netdelta/internal/worker"
)

// roles is the table of what a re-executed binary can be.
var roles = []struct {
	name string
	main func(args []string) int
}{
	{sys.RoleWorker, worker.Main},
	{sys.RoleWire, ether.Main},
	{sys.RoleAwake, netlab.AwakeMain},
}

// Dispatch runs the role that the first argument names, if it names one, and
// returns its exit status.
func Dispatch(args []string) (status int, ok bool) {
	if len(args) == 0 {
		return 0, false
	}
	for _, r := range roles {
		if r.name == args[0] {
			sys.NameThread("nd-" + strings.TrimLeft(r.name, "_"))
			return r.main(args[1:]), true
		}
	}
	return 0, false
}
