package knob

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"

	"netdelta/internal/sys"
)

// recordSchema is that of the journal's files.
const recordSchema = "netdelta.setting/1"

// maxRecord is far above what a record takes, commands included.
const maxRecord = 1 << 20

// record is one file of the journal: an entry, and what it takes to find again
// what the entry is about.
type record struct {
	Schema string `json:"schema"`
	Entry
	// Boot is the boot's ID (random(4)); what the kernel had ends with it.
	Boot string `json:"boot"`
	// NS is the network namespace.
	NS sys.NetNSID `json:"netns"`
	// Own says that it was the process's own, and no lab's.
	Own bool `json:"own_netns,omitempty"`
	// InUserNS says that the process was in a user namespace of an ordinary user.
	InUserNS bool `json:"in_user_namespace,omitempty"`
	// Device and Ifindex are the interface, for a knob of one: a later one of the
	// same name has another index. A command is told the name alone.
	Device  string `json:"interface,omitempty"`
	Ifindex int    `json:"ifindex,omitempty"`
	// Started is when the process did, in clock ticks since the boot.
	Started uint64 `json:"started,omitempty"`
	// Peer and Turn are of a command.
	Peer netip.Addr `json:"peer,omitzero"`
	Turn int        `json:"turn,omitempty"`
}

// stemOf is how the names of a setting's files begin.
func stemOf(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

func (r record) encode() ([]byte, error) {
	r.Schema = recordSchema
	data, err := json.MarshalIndent(r, "", " ")
	return append(data, '\n'), err
}

// decodeRecord reads a file of the journal whose name begins with that stem. What
// is damaged is an error, so that nothing is set to a value that was not there.
func decodeRecord(stem string, data []byte) (record, error) {
	if len(data) > maxRecord {
		return record{}, fmt.Errorf("it is larger than %d bytes", maxRecord)
	}
	var r record
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&r); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("it is empty")
		}
		return record{}, err
	}
	if _, err := d.Token(); err != io.EOF {
		return record{}, errors.New("something stands behind its end")
	}
	switch {
	case r.Schema != recordSchema:
		return record{}, fmt.Errorf("its schema is %q, not %s: another version of the program wrote it, and can restore it", r.Schema, recordSchema)
	case r.ID == "" || stemOf(r.ID) != stem:
		return record{}, fmt.Errorf("it is of setting %q, which has another file", r.ID)
	case r.Boot == "" || r.Setting.Knob == "":
		return record{}, errors.New("it names no boot or no knob")
	case strings.ContainsAny(r.Device, "/\x00"):
		return record{}, fmt.Errorf("%q is no interface", r.Device)
	}
	return r, nil
}
