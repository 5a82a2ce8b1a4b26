package counters

import "golang.org/x/sys/unix"

// States and flags of linux/timex.h.
const (
	staUnsync = 0x0040 // STA_UNSYNC
	staNano   = 0x2000 // STA_NANO: offset is in nanoseconds
	timeOK    = 0      // TIME_OK
	timeError = 5      // TIME_ERROR: not synchronised
)

// clockLevels adds what adjtimex(2) tells, asked to change nothing.
func clockLevels(levels map[string]int64) {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	if err != nil {
		return
	}
	clockState(levels, state, &t)
}

func clockState(levels map[string]int64, state int, t *unix.Timex) {
	levels["synchronised"], levels["leap"] = 1, 0
	if state == timeError || t.Status&staUnsync != 0 {
		levels["synchronised"] = 0
	}
	if state != timeOK && state != timeError {
		levels["leap"] = 1
	}
	levels["frequency_ppb"] = int64(t.Freq) * 1000 >> 16 // parts per million, of 2^16
	offset := int64(t.Offset)
	if t.Status&staNano == 0 {
		offset *= 1000
	}
	levels["offset_ns"] = offset
	levels["max_error_ns"] = int64(t.Maxerror) * 1000
}
