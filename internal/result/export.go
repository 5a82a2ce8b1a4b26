package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ExportSchema names the version of the file that holds one run with all its
// trials.
const ExportSchema = "netdelta.run-export/1"

// export is the file's only object. Its parts have schemas of their own.
type export struct {
	Schema string            `json:"schema"`
	Run    json.RawMessage   `json:"run"`
	Trials []json.RawMessage `json:"trials"`
}

// EncodeExport writes a run and its trials as one JSON object: each of the
// records is a line as Encode and EncodeRun write it.
func EncodeExport(run Run, trials []Trial) ([]byte, error) {
	record, err := EncodeRun(run)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\"schema\":%q,\"run\":\n%s,\n\"trials\":[", ExportSchema, record)
	for i, t := range trials {
		record, err := Encode(t)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(record)
	}
	b.WriteString("\n]}\n")
	return b.Bytes(), nil
}

// DecodeExport reads what EncodeExport wrote: exactly one object, every record
// of which is valid.
func DecodeExport(data []byte) (Run, []Trial, error) {
	fail := func(err error) (Run, []Trial, error) {
		return Run{}, nil, fmt.Errorf("read exported run: %w", err)
	}
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fail(err)
	}
	if head.Schema != ExportSchema {
		return fail(wrongSchema(head.Schema, ExportSchema))
	}
	var e export
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return fail(err)
	}
	if e.Run == nil || e.Trials == nil {
		return fail(errors.New("it lacks the run or its trials"))
	}
	run, err := DecodeRun(e.Run)
	if err != nil {
		return fail(err)
	}
	trials := make([]Trial, len(e.Trials))
	for i, record := range e.Trials {
		if trials[i], err = Decode(record); err != nil {
			return fail(fmt.Errorf("trial %d of %d: %w", i+1, len(trials), err))
		}
	}
	return run, trials, nil
}
