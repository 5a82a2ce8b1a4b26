package sys

// Stamp is which of a message's timestamps one is (Documentation/networking/
// timestamping.rst).
type Stamp int

const (
	// StampScheduled is when a message was handed to the queueing discipline.
	StampScheduled Stamp = iota
	// StampSent is when its driver had it.
	StampSent
	// StampAcknowledged is when the peer's acknowledgement of all of it came.
	StampAcknowledged
	// StampReceived is when what came was given to the protocols.
	StampReceived
	// StampHardwareSent and StampHardwareReceived are the interface's own, of its own
	// clock.
	StampHardwareSent
	StampHardwareReceived
	// Stamps is how many kinds there are.
	Stamps
)

// StampTimes are a message's timestamps in ns: of CLOCK_REALTIME, the hardware's of its
// own clock; 0 for those that there are not.
type StampTimes [Stamps]int64

// RealOffset is how far CLOCK_REALTIME is before CLOCK_MONOTONIC, in ns, and how far off
// that may be: nothing but a step of the clock changes it.
func RealOffset() (offset, off int64) {
	off = 1 << 62
	for range 16 {
		before := Nanotime()
		real := realtime()
		after := Nanotime()
		if after-before < off {
			offset, off = real-before-(after-before)/2, after-before
		}
	}
	return offset, off
}
