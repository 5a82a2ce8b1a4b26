package knob

import (
	"context"
	"fmt"
	"net/netip"

	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// Place is where a setting is made.
type Place struct {
	// NS is the network namespace; nil is the process's own.
	NS *sys.NetNS
	// Device is the interface of a knob of one.
	Device string
	// End, Peer and Level are for the commands of users: which end this is, the
	// far end's address if it is known, and the level's value.
	End   string
	Peer  netip.Addr
	Level string

	// root is put before /proc and /sys, by tests that have files of their own.
	root string
	// turn tells commands of one request apart that have one restore.
	turn int
}

// Control is one setting of one host: what a row of the table opens. Values are
// texts in the knob's own words, such that what Read returns can be written.
type Control interface {
	// ID names the setting among all of its network namespace, or of the machine
	// if it begins with "host ": two controls of one ID are the same setting.
	ID() string
	// Read returns the present value, with all that Restore needs.
	Read(ctx context.Context) (string, error)
	// Write sets a value. It need not verify: what is read afterwards is compared.
	Write(ctx context.Context, value string) error
	// Restore sets what Read returned before the first change.
	Restore(ctx context.Context, was string) error
	// Equal says whether what was read is the value that was asked for.
	Equal(read, asked string) bool
}

// Settler is a Control after whose change a host is not ready at once.
type Settler interface {
	// Settled says whether the host is ready again.
	Settled(ctx context.Context) (bool, error)
}

// knob is one row: how a setting of one kind is opened.
type knob struct {
	name string // as spec's table has it
	open func(p Place, s spec.Setting, arg string) (Control, error)
}

// open finds the setting's row and opens it. An error that the system's state is
// the reason of wraps feature.ErrUnavailable.
func open(p Place, s spec.Setting) (Control, error) {
	row, arg, err := s.Row()
	if err != nil {
		return nil, err
	}
	for _, k := range knobs {
		if k.name == row.Name {
			return k.open(p, s, arg)
		}
	}
	return nil, fmt.Errorf("%s is no setting of a host", s.Knob)
}

// hostPrefix begins the ID of a setting of the whole machine.
const hostPrefix = "host "
