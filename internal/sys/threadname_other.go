//go:build !linux

package sys

// Names of threads.
const (
	ThreadTraffic = "nd-traffic"
	ThreadWire    = "nd-wire"
	ThreadHandler = "rx-handler"
)

// NameThread does nothing: threads have no names here that anything would show.
func NameThread(string) {}
