package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"netdelta/internal/spec"
)

// LiveSchema names the version of the JSON form of Live.
const LiveSchema = "netdelta.interval/1"

// maxLive is the most bytes of a Live that are read; a real one has some 300.
const maxLive = 4096

// Live is an interval as its end tells of it while the trial still runs.
type Live struct {
	Schema string    `json:"schema"`
	Test   spec.Test `json:"test"`
	End    string    `json:"end"` // Local or Remote
	Interval
}

// EncodeLive writes one JSON object and sets its schema.
func EncodeLive(l Live) ([]byte, error) {
	l.Schema = LiveSchema
	data, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("write interval: %w", err)
	}
	return data, nil
}

// DecodeLive reads what EncodeLive wrote, and refuses what no end could have
// told.
func DecodeLive(data []byte) (Live, error) {
	var l Live
	if len(data) > maxLive {
		return l, fmt.Errorf("read interval: %d bytes, at most %d", len(data), maxLive)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return Live{}, fmt.Errorf("read interval: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Live{}, errors.New("read interval: more after the object's end")
	}
	if l.Schema != LiveSchema {
		return Live{}, fmt.Errorf("read interval: %w", wrongSchema(l.Schema, LiveSchema))
	}
	if full, err := spec.NewTest(l.Test.Name, l.Test.Params); err != nil {
		return Live{}, fmt.Errorf("read interval: %w", err)
	} else if full != l.Test {
		return Live{}, fmt.Errorf("read interval: test %q lacks its defaults", l.Test)
	}
	if l.End != Local && l.End != Remote {
		return Live{}, fmt.Errorf("read interval: end %q: %s or %s is needed", shorten(l.End), Local, Remote)
	}
	if err := l.Interval.Validate(); err != nil {
		return Live{}, fmt.Errorf("read interval: %w", err)
	}
	return l, nil
}
