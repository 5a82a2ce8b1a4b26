//go:build !linux

package counters

import "runtime"

func openEvents(_ *Options, events []perfEvent) (source, error) {
	return nil, unavailable("%s are counted by perf_event_open, which %s has not", events[0].name, runtime.GOOS)
}
