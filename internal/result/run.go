package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"netdelta/internal/spec"
)

// RunSchema names the version of a run's JSON form. The second one can say that
// a run stands for a boot; one of the first is read as one that does not.
const (
	RunSchema      = "netdelta.run/2"
	firstRunSchema = "netdelta.run/1"
)

// State says how far a run came.
type State string

const (
	// Running is a run that more trials may be added to.
	Running State = "running"
	// Complete is a run that did all that it set out to do.
	Complete State = "complete"
	// Partial is a run that ended early and whose trials are good.
	Partial State = "partial"
	// Failed is a run that could not measure what it was asked to.
	Failed State = "failed"
)

var states = []State{Running, Complete, Partial, Failed}

// Fact is one thing about a machine that bears on its figures.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Environment is what one end was when the run began, in a fixed order.
type Environment struct {
	End   string `json:"end"` // Local or Remote
	Facts []Fact `json:"facts"`
}

// Run is what a set of trials has in common: what was asked for, where, by
// which program, and how it ended. It holds no trial.
type Run struct {
	Schema string `json:"schema"`
	ID     string `json:"id"` // as RunID makes them
	// Label is the user's name for the run; runs of one label are its
	// repetitions. It may be empty.
	Label string `json:"label,omitempty"`
	// PerBoot says that the run stands for the boot of its machines: runs of one
	// label and several boots are repetitions of what differs from boot to boot.
	PerBoot bool `json:"per_boot,omitempty"`
	// Experiment is the lab experiment's or the plan's name, Target the far
	// host as the user wrote it; either may be empty.
	Experiment string    `json:"experiment,omitempty"`
	Target     string    `json:"target,omitempty"`
	State      State     `json:"state"`
	Start      time.Time `json:"start"`
	End        time.Time `json:"end,omitzero"` // zero while it runs
	// Plan is what was to be run; nil where there was none, as in an import.
	Plan         *spec.Plan    `json:"plan,omitempty"`
	Command      string        `json:"command,omitempty"`
	Version      string        `json:"version,omitempty"` // the program's
	Environments []Environment `json:"environments,omitempty"`
	Notes        string        `json:"notes,omitempty"`
	Warnings     []Warning     `json:"warnings,omitempty"`
}

// MaxLabel is the longest label, in bytes.
const MaxLabel = 128

// CheckLabel reports what keeps a text from being a run's label. A label may
// hold blanks, but nothing that a terminal or a list would garble.
func CheckLabel(label string) error {
	if len(label) > MaxLabel {
		return fmt.Errorf("label %q is longer than %d bytes", shorten(label), MaxLabel)
	}
	if !utf8.ValidString(label) {
		return fmt.Errorf("label %q is not UTF-8", label)
	}
	if strings.TrimSpace(label) != label {
		return fmt.Errorf("label %q begins or ends with a blank", label)
	}
	if i := strings.IndexFunc(label, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		r, _ := utf8.DecodeRuneInString(label[i:])
		return fmt.Errorf("label %q has %q in it: use printable characters", label, r)
	}
	return nil
}

// Validate reports the first thing in a run's record that can't be.
func (r *Run) Validate() error {
	if r.Schema != "" && r.Schema != RunSchema {
		return fmt.Errorf("schema %q: %s is needed", shorten(r.Schema), RunSchema)
	}
	if id, ok := NormalRunID(r.ID); !ok || id != r.ID || len(id) != RunIDLength {
		return fmt.Errorf("id %q: %d of the characters %s are needed", shorten(r.ID), RunIDLength, runIDAlphabet)
	}
	if err := CheckLabel(r.Label); err != nil {
		return err
	}
	if !slices.Contains(states, r.State) {
		return fmt.Errorf("state %q: valid are %s", shorten(string(r.State)), joinStates())
	}
	if r.Start.IsZero() {
		return errors.New("no start time")
	}
	// The years that a count of nanoseconds since 1970 in 64 bits can name in
	// full, so that every store can sort by time.
	for _, t := range []time.Time{r.Start, r.End} {
		if y := t.UTC().Year(); !t.IsZero() && (y < 1678 || y > 2261) {
			return fmt.Errorf("a time in the year %d can't be", y)
		}
	}
	for _, e := range r.Environments {
		if e.End != Local && e.End != Remote {
			return fmt.Errorf("environment of the end %q: %s or %s is needed", shorten(e.End), Local, Remote)
		}
	}
	return nil
}

func joinStates() string {
	names := make([]string, len(states))
	for i, s := range states {
		names[i] = string(s)
	}
	return strings.Join(names, ", ")
}

// EncodeRun writes a run's record as one JSON object on one line, with its
// schema and its times in UTC, and refuses what DecodeRun would not read.
func EncodeRun(r Run) ([]byte, error) {
	r.Schema = RunSchema
	r.Start, r.End = r.Start.UTC(), r.End.UTC()
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("write run: %w", err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("write run %s: %w", r.ID, err)
	}
	return data, nil
}

// DecodeRun reads what EncodeRun wrote: exactly one object, of this schema or
// the one before it, with no field that this schema does not have. What it accepts, Validate does.
func DecodeRun(data []byte) (Run, error) {
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return Run{}, fmt.Errorf("read run: %w", err)
	}
	if head.Schema != RunSchema && head.Schema != firstRunSchema {
		return Run{}, fmt.Errorf("read run: %w", wrongSchema(head.Schema, RunSchema))
	}
	var r Run
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return Run{}, fmt.Errorf("read run: %w", err)
	}
	r.Schema = RunSchema
	if err := r.Validate(); err != nil {
		return Run{}, fmt.Errorf("read run: %w", err)
	}
	return r, nil
}

// wrongSchema says what a record is whose schema is not the one wanted: newer
// or older of the same kind, with both versions, or something else.
func wrongSchema(got, want string) error {
	kind, own, _ := strings.Cut(want, "/")
	version, same := strings.CutPrefix(got, kind+"/")
	n, err := strconv.ParseUint(version, 10, 32)
	if !same || err != nil {
		return fmt.Errorf("its schema is %q: %s is needed", shorten(got), want)
	}
	if k, err := strconv.ParseUint(own, 10, 32); err == nil && n > k {
		return fmt.Errorf("its schema is %s and this program reads %s: use a newer netdelta", got, want)
	}
	return fmt.Errorf("its schema is %s and this program reads only %s", got, want)
}

// runIDAlphabet is Crockford's base32 in lower case: no i, l, o or u, so that
// nothing in it is mistaken for something else.
const runIDAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// RunIDLength is the number of characters of a run's id: 50 bits.
const RunIDLength = 10

// RunID makes an id of the low 50 bits of a random number. With real
// randomness a hundred thousand runs have two alike with a chance of 1 in
// 200,000. It has no time in it, so that a few characters tell runs of the
// same day apart.
func RunID(random uint64) string {
	id := make([]byte, RunIDLength)
	for i := range id {
		id[i] = runIDAlphabet[random>>(5*i)&31]
	}
	return string(id)
}

// NormalRunID reads an id, or the beginning of one, as people type it:
// capitals are small letters, I and L are 1, O is 0. It says false for a text
// that can't be an id's beginning.
func NormalRunID(typed string) (id string, ok bool) {
	if len(typed) == 0 || len(typed) > RunIDLength {
		return "", false
	}
	normal := []byte(typed)
	for i, c := range normal {
		if 'A' <= c && c <= 'Z' {
			normal[i] += 'a' - 'A'
		}
		switch normal[i] {
		case 'i', 'l':
			normal[i] = '1'
		case 'o':
			normal[i] = '0'
		}
		if strings.IndexByte(runIDAlphabet, normal[i]) < 0 {
			return "", false
		}
	}
	return string(normal), true
}
