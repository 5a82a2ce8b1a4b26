package ctl

import (
	"errors"
	"fmt"
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Names of the documents, with their version.
const (
	settingsSchema = "netdelta.settings/1"
	changesSchema  = "netdelta.changes/1"
)

// Limits of them.
const (
	maxSettings = 64 << 10  // bytes
	maxChanges  = 256 << 10 // bytes: what a setting was may need more words than what it is to be
	maxList     = 64        // settings of one end
)

type settingsDoc struct {
	Schema   string   `json:"schema"`
	Settings Settings `json:"settings"`
}

type changesDoc struct {
	Schema  string          `json:"schema"`
	Changes []result.Change `json:"changes"`
}

// EncodeSettings is the wire form of what is to hold at one end. Settings that
// DecodeSettings would refuse are errors.
func EncodeSettings(w Settings) ([]byte, error) {
	if err := w.check(); err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	return encode(settingsDoc{settingsSchema, w}, "settings", maxSettings)
}

// DecodeSettings reads what EncodeSettings wrote. What no host could be set to is
// an error that names what would be right.
func DecodeSettings(data []byte) (Settings, error) {
	var doc settingsDoc
	if err := decode(data, &doc, "settings", maxSettings); err != nil {
		return Settings{}, err
	}
	if doc.Schema != settingsSchema {
		return Settings{}, fmt.Errorf("settings: schema %q, want %q", doc.Schema, settingsSchema)
	}
	if err := doc.Settings.check(); err != nil {
		return Settings{}, fmt.Errorf("settings: %w", err)
	}
	return doc.Settings, nil
}

func (w Settings) check() error {
	if w.End != spec.EndLocal && w.End != spec.EndRemote {
		return fmt.Errorf("end %.20q: valid are %s, %s", w.End, spec.EndLocal, spec.EndRemote)
	}
	if len(w.List) > maxList {
		return fmt.Errorf("%d of them are more than %d", len(w.List), maxList)
	}
	if w.Addr.IsMulticast() {
		return fmt.Errorf("address %v is no single host's", w.Addr)
	}
	if w.Peer.IsValid() && (w.Peer.IsUnspecified() || w.Peer.IsMulticast()) {
		return fmt.Errorf("peer %v is no single host's address", w.Peer)
	}
	for i, s := range w.List {
		if err := w.checkOne(s); err != nil {
			return err
		}
		same := func(o spec.Setting) bool { return o.Knob == s.Knob && o.Device == s.Device }
		if s.Command == nil && slices.ContainsFunc(w.List[:i], same) {
			return fmt.Errorf("%.80q is there twice", s)
		}
	}
	return nil
}

func (w Settings) checkOne(s spec.Setting) error {
	row, _, err := s.Row()
	if err != nil {
		return err
	}
	if !s.At(w.End) {
		return fmt.Errorf("%.80q is none of the %s end's", s, w.End)
	}
	if !row.Scope.ByAgent() {
		return fmt.Errorf("%.80q is nothing that an agent sets", s)
	}
	return s.Validate()
}

func encodeChanges(c []result.Change) ([]byte, error) {
	return encode(changesDoc{changesSchema, c}, "changes", maxChanges)
}

// decodeChanges reads what encodeChanges wrote. What no host can have changed is
// an error.
func decodeChanges(data []byte) ([]result.Change, error) {
	var doc changesDoc
	if err := decode(data, &doc, "changes", maxChanges); err != nil {
		return nil, err
	}
	if doc.Schema != changesSchema {
		return nil, fmt.Errorf("changes: schema %q, want %q", doc.Schema, changesSchema)
	}
	for _, c := range doc.Changes {
		switch {
		case c.End != spec.EndLocal && c.End != spec.EndRemote:
			return nil, fmt.Errorf("changes: end %.20q: valid are %s, %s", c.End, spec.EndLocal, spec.EndRemote)
		case c.Knob == "":
			return nil, errors.New("changes: one names no knob")
		case c.Took < 0 || c.Settled < 0:
			return nil, fmt.Errorf("changes: %.60q took %v and settled in %v: neither can be negative", c.Knob, c.Took, c.Settled)
		}
	}
	return doc.Changes, nil
}
