package knob

import (
	"context"
	"net/netip"
	"time"

	"netdelta/internal/result"
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

// Holder holds the settings that one session has changed, and what they were.
// Its methods may be called by several goroutines, one after the other.
type Holder struct {
	cfg Config
}

// NewHolder returns a holder of nothing yet.
func NewHolder(cfg Config) *Holder { return &Holder{cfg: cfg} }

// Set makes every setting of the request hold, and returns those that were
// another way, in the order in which they were changed. What a setting was
// before its first change is journalled before that; what has the asked value
// already is left alone, but journalled and locked all the same. A setting that
// reads back otherwise is an error. After an error what was changed stays, to be
// restored. The setting that somebody else holds is ErrHeld.
func (h *Holder) Set(ctx context.Context, r Request) ([]result.Change, error) { return nil, nil }

// Restore puts everything back, the last change first, and lets it go. It tries
// all, and returns what failed; that stays in the journal.
func (h *Holder) Restore(ctx context.Context) error { return nil }

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

// DefaultJournal is the directory of the journal: /var/lib/netdelta/settings for
// root, or else netdelta/settings in $XDG_STATE_HOME or ~/.local/state.
// NETDELTA_JOURNAL names another.
func DefaultJournal() (string, error) { return "", nil }

// Pending lists what the journal has.
func Pending(dir string) ([]Entry, error) { return nil, nil }

// Recover puts back what dead processes have left, and returns what it found
// with what became of it. Settings that live processes hold are left alone.
func Recover(ctx context.Context, dir string) ([]Entry, error) { return nil, nil }
