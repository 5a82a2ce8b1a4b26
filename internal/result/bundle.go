package result

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// BundleSchema names the version of a bundle: the file that carries runs with all
// their raw trials, environments and plans.
const BundleSchema = "netdelta.bundle/1"

// bundleEndSchema is that of a bundle's last line.
const bundleEndSchema = "netdelta.bundle-end/1"

// MaxBundle is how large what is in a bundle may be, in bytes, uncompressed: some
// hundred thousand trials.
const MaxBundle = 2 << 30

// Bundled is a run with its trials, as a bundle has them.
type Bundled struct {
	Run    Run
	Trials []Trial
}

// bundleHead is a bundle's first line, and bundleEnd its last one. Without the last one
// a bundle is cut off.
type bundleHead struct {
	Schema string `json:"schema"`
	Runs   int    `json:"runs"`
}

type bundleEnd struct {
	Schema string `json:"schema"`
	Runs   int    `json:"runs"`
	Trials int    `json:"trials"`
}

// EncodeBundle writes runs as one compressed file (gzip, RFC 1952) of lines, each a
// JSON object: what the file is; each run as EncodeRun writes it, followed by its
// trials as Encode writes them; and how many there were. The same runs make the same
// file.
func EncodeBundle(all []Bundled) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("write bundle: %w", err)
	}
	line := func(data []byte) {
		z.Write(data) // a buffer takes everything
		z.Write([]byte{'\n'})
	}
	object := func(v any) {
		data, _ := json.Marshal(v) // numbers and words alone
		line(data)
	}
	object(bundleHead{BundleSchema, len(all)})
	end := bundleEnd{Schema: bundleEndSchema, Runs: len(all)}
	for _, x := range all {
		record, err := EncodeRun(x.Run)
		if err != nil {
			return nil, fmt.Errorf("write bundle: %w", err)
		}
		line(record)
		for _, t := range x.Trials {
			if record, err = Encode(t); err != nil {
				return nil, fmt.Errorf("write bundle: run %s: %w", x.Run.ID, err)
			}
			line(record)
		}
		end.Trials += len(x.Trials)
	}
	object(end)
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("write bundle: %w", err)
	}
	return b.Bytes(), nil
}

// IsBundle says that a file begins as a compressed one does, which nothing else does
// that this program reads.
func IsBundle(data []byte) bool { return bytes.HasPrefix(data, []byte{0x1f, 0x8b}) }

// errCut says that a bundle lacks its end.
var errCut = errors.New("it is cut off: copy it again, whole")

// DecodeBundle reads what EncodeBundle wrote, and refuses a file that is cut off, has
// more than MaxBundle in it, or in which any record is not valid.
func DecodeBundle(data []byte) ([]Bundled, error) {
	fail := func(err error) ([]Bundled, error) {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			err = errCut
		}
		return nil, fmt.Errorf("read bundle: %w", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return fail(err)
	}
	limited := &io.LimitedReader{R: z, N: MaxBundle + 1}
	d := &bundleReader{lines: bufio.NewReaderSize(limited, 1<<20)}
	all, err := d.read()
	if limited.N <= 0 {
		return fail(fmt.Errorf("there are more than %d GiB in it", MaxBundle>>30))
	}
	if err != nil {
		return fail(err)
	}
	return all, nil
}

// bundleReader reads a bundle line by line.
type bundleReader struct {
	lines *bufio.Reader
	no    int
}

func (d *bundleReader) next() ([]byte, error) {
	d.no++
	line, err := d.lines.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	return line, nil
}

func (d *bundleReader) read() ([]Bundled, error) {
	line, err := d.next()
	if err != nil {
		return nil, err
	}
	var head bundleHead
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, errors.New("it is no bundle of netdelta's")
	}
	if head.Schema != BundleSchema {
		return nil, wrongSchema(head.Schema, BundleSchema)
	}
	var all []Bundled
	trials := 0
	for {
		if line, err = d.next(); err != nil {
			return nil, err
		}
		var what struct {
			Schema string `json:"schema"`
		}
		if err := json.Unmarshal(line, &what); err != nil {
			return nil, fmt.Errorf("line %d: %w", d.no, err)
		}
		switch {
		case what.Schema == bundleEndSchema:
			return all, d.end(line, head, len(all), trials)
		case strings.HasPrefix(what.Schema, "netdelta.run/"):
			run, err := DecodeRun(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", d.no, err)
			}
			all = append(all, Bundled{Run: run})
		case len(all) == 0:
			return nil, fmt.Errorf("line %d: a trial stands before the first run", d.no)
		default:
			t, err := Decode(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", d.no, err)
			}
			last := &all[len(all)-1]
			last.Trials = append(last.Trials, t)
			trials++
		}
	}
}

// end holds the last line against what was read, and has nothing follow it.
func (d *bundleReader) end(line []byte, head bundleHead, runs, trials int) error {
	var end bundleEnd
	if err := json.Unmarshal(line, &end); err != nil {
		return fmt.Errorf("line %d: %w", d.no, err)
	}
	if runs != head.Runs || end.Runs != runs || end.Trials != trials {
		return fmt.Errorf("it has %d runs with %d trials, and says that it has %d with %d", runs, trials, end.Runs, end.Trials)
	}
	if rest, err := d.next(); err == nil || len(rest) > 0 {
		return errors.New("something follows its end")
	} else if !errors.Is(err, io.EOF) {
		return err // the checksum, say
	}
	return nil
}
