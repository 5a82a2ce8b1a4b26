package knob

import (
	"errors"
	"net/netip"
	"time"

	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// Config says for whom settings are changed.
type Config struct {
	// Journal is the directory of the journal; DefaultJournal if empty.
	Journal string
	// NS is the host's network namespace; nil is the process's own.
	NS *sys.NetNS
	// Who is told to others that want the same setting: "netdelta run on alpha".
	Who string
	// Commands allows the knob "command".
	Commands bool
}

// Request is what is to hold at one end.
type Request struct {
	End      string // spec.EndLocal or spec.EndRemote
	Settings []spec.Setting
	// Addr and Peer are this end's address on the path and the other's; they tell
	// which interface is meant where a setting names none. Either may be invalid.
	Addr, Peer netip.Addr
	// Probe has Set wait, after a change, until Peer answers ICMP echoes, if it did
	// before the change.
	Probe bool
}

// ErrHeld is the setting that another live process, or another session of this
// one, has changed. The error says which.
var ErrHeld = errors.New("somebody else holds the setting")

// Entry is one setting in the journal.
type Entry struct {
	Setting spec.Setting `json:"setting"`
	End     string       `json:"end"`
	ID      string       `json:"id"`
	Was     string       `json:"was"`
	Who     string       `json:"who"`
	PID     int          `json:"pid"`
	Since   time.Time    `json:"since"`
	// Held says that the process that changed it lives and will restore it.
	Held bool `json:"-"`
	// Done says what became of it: restored, or why not needed; Err if it failed.
	Done string `json:"-"`
	Err  error  `json:"-"`
}
