package result

import (
	"fmt"
	"time"

	"netdelta/internal/spec"
)

// countNotReached is the code of the warning that a window was over before the
// messages or bytes were through that were to end it.
const countNotReached = "count-not-reached"

// reached says that an end's window ended since the messages or bytes were
// through that the test asks for.
func (t *Trial) reached(e *End) bool {
	messages, bytes := t.Test.Limit()
	return messages > 0 && e.Messages >= messages || bytes > 0 && e.Bytes >= bytes
}

// planned is how long an end's window should have been: with a limit, no
// length at all, or that of the other end if the limit ended its window.
func (t *Trial) planned(e *End) time.Duration {
	if t.reached(e) {
		return 0
	}
	for _, other := range []*End{&t.Local, t.Remote} {
		if other != nil && t.reached(other) {
			return min(t.Window, other.Elapsed)
		}
	}
	return t.Window
}

// unreached warns of the ends whose windows were over before their limit. One
// that only receives has no part in when the sender ends, and may lack some.
func (t *Trial) unreached() []Warning {
	messages, bytes := t.Test.Limit()
	if messages == 0 && bytes == 0 || t.Window == 0 || t.unavailable() != nil {
		return nil
	}
	sends := map[spec.Pattern][2]bool{ // local, remote
		spec.Echo: {true}, spec.RoundTrip: {true}, spec.Connect: {true}, spec.Wake: {true},
		spec.Stream: {true, false}, spec.Reverse: {false, true}, spec.Duplex: {true, true},
	}[t.Test.Kind().Pattern]
	var all []Warning
	for i, e := range []*End{&t.Local, t.Remote} {
		if e == nil || t.reached(e) || i == 1 && !t.Test.Kind().IsStream() {
			continue
		}
		got, want, what := e.Messages, messages, "messages"
		if bytes > 0 {
			got, want, what = e.Bytes, bytes, "bytes"
		}
		if !sends[i] && got >= want-want/10 {
			continue
		}
		all = append(all, Warning{
			Code:   countNotReached,
			Text:   fmt.Sprintf("the %s end's window was over after %v with %d of %d %s", e.Role, e.Elapsed, got, want, what),
			Advice: "give the window more time (--time), or ask for fewer; at a receiver, look for loss",
		})
	}
	return all
}
