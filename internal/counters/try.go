package counters

import (
	"errors"

	"netdelta/internal/sys"
)

// Try opens each source of the table on this machine and gives it up again, and
// returns in the table's order why it can't be had: nil for one that can. What
// is of an interface is tried of the given one.
func Try(device string) []error {
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		cpus = nil // the sources say what they lack
	}
	var all []error
	for _, r := range table {
		s, err := r.open(&Options{root: "/", Device: device, CPUs: cpus, sockets: &sockets{}, threads: &threads{}})
		if err == nil {
			_, err = s.take()
			err = errors.Join(err, s.close())
		}
		all = append(all, err)
	}
	return all
}
