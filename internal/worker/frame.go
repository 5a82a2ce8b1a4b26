package worker

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"

	"netdelta/internal/result"
	"netdelta/internal/traffic"
)

// maxFrame is the most bytes of one message, a bound on what a broken peer can
// make us allocate. The largest real one is a reply with a histogram and counters:
// some tens of KiB, and a kilobyte or two for each CPU of the host.
const maxFrame = 8 << 20

// Commands, in the order in which they are given.
const (
	cmdPrepare = "prepare"
	cmdArm     = "arm"
	cmdRun     = "run"
	cmdDrain   = "drain"
)

// request is a command to the worker.
type request struct {
	Command string          `json:"command"`
	Config  *traffic.Config `json:"config,omitempty"` // prepare
	Peer    netip.AddrPort  `json:"peer,omitzero"`    // arm
}

// reply is the worker's answer.
type reply struct {
	Error *Error      `json:"error,omitempty"`
	Port  uint16      `json:"port,omitempty"` // prepare
	End   *result.End `json:"end,omitempty"`  // run at a local end, drain at a remote one
	// Interval is no answer: it comes unasked while the traffic flows, if the
	// configuration is Live. It is a result.Live as JSON.
	Interval json.RawMessage `json:"interval,omitempty"`
}

// writeFrame writes a message: its length as 4 bytes, big endian, and its JSON.
func writeFrame(w io.Writer, message any) error {
	var b bytes.Buffer
	b.Write(make([]byte, 4))
	if err := json.NewEncoder(&b).Encode(message); err != nil {
		return fmt.Errorf("encode a control message: %w", err)
	}
	length := b.Len() - 4
	if length > maxFrame {
		return fmt.Errorf("a control message of %d bytes is over the limit of %d", length, maxFrame)
	}
	binary.BigEndian.PutUint32(b.Bytes(), uint32(length))
	_, err := w.Write(b.Bytes())
	return err
}

// readFrame reads what writeFrame wrote. io.EOF means that nothing more comes.
func readFrame(r io.Reader, message any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length > maxFrame {
		return fmt.Errorf("a control message of %d bytes is over the limit of %d", length, maxFrame)
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return noEOF(err)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(message); err != nil {
		return fmt.Errorf("decode a control message: %w", noEOF(err))
	}
	return nil
}

// noEOF makes an end within a message an error that is not mistaken for the
// end between two.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
