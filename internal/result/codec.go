package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Encode writes a trial as one JSON object with no line break in it, so that
// a file of trials is one trial a line. It sets the schema, and refuses what
// Decode would not read.
func Encode(t Trial) ([]byte, error) {
	t.Schema = Schema
	if err := t.Validate(); err != nil {
		return nil, fmt.Errorf("write trial: %w", err)
	}
	data, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("write trial of %s, block %d: %w", t.Test, t.Block, err)
	}
	return data, nil
}

// Decode reads what Encode wrote: exactly one object, of this schema or the one
// before it, with no field that this schema does not have. What it accepts, Validate does.
func Decode(data []byte) (Trial, error) {
	if err := checkSchema(data); err != nil {
		return Trial{}, fmt.Errorf("read trial: %w", err)
	}
	var t Trial
	// It is what encoding/json does, in two thirds of its time: a report may be of ten
	// thousand trials.
	if err := jsonv2.Unmarshal(data, &t, jsonv1.DefaultOptionsV1(), jsonv2.RejectUnknownMembers(true)); err != nil {
		return Trial{}, fmt.Errorf("read trial: %w", err)
	}
	t.Schema = Schema
	if err := t.Validate(); err != nil {
		return Trial{}, fmt.Errorf("read trial: %w", err)
	}
	return t, nil
}

// ownBeginning is how a record of this version begins.
var ownBeginning = []byte(`{"schema":"` + Schema + `",`)

// checkSchema looks at nothing but the schema, so that a record of another
// version is called that and not a heap of unknown fields. It also refuses
// anything that follows the object.
func checkSchema(data []byte) error {
	if bytes.HasPrefix(data, ownBeginning) {
		return nil // as Encode writes it, and what follows is decoded to its end
	}
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return err
	}
	if head.Schema == Schema || head.Schema == firstSchema {
		return nil
	}
	name, own, _ := strings.Cut(Schema, "/")
	version, isTrial := strings.CutPrefix(head.Schema, name+"/")
	if n, err := strconv.ParseUint(version, 10, 32); isTrial && err == nil {
		if k, err := strconv.ParseUint(own, 10, 32); err == nil && n > k {
			return fmt.Errorf("its schema is %s and this program reads %s: use a newer netdelta", head.Schema, Schema)
		}
		return fmt.Errorf("its schema is %s and this program reads only %s and %s", head.Schema, firstSchema, Schema)
	}
	if head.Schema == "" {
		return fmt.Errorf("no schema named: %s is needed", Schema)
	}
	return fmt.Errorf("%q is no trial's schema: %s is needed", shorten(head.Schema), Schema)
}

// shorten keeps foreign text from filling an error.
func shorten(s string) string {
	if len(s) > 64 {
		return s[:64] + "..."
	}
	return s
}
