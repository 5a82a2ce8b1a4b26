package ether

import (
	"fmt"
	"strings"
)

// A control message is one packet on a SOCK_SEQPACKET pair: a kind and what
// belongs to it. The socket keeps the packets' bounds, so there is no length
// to read and none to trust.
const (
	askStats  = 'q' // to the wire: send msgStats
	msgReady  = 'r' // frames pass from now on; text: one warning a line
	msgStats  = 's' // a snapshot
	msgFailed = 'e' // text: why the wire ends
)

// maxMessage is the bytes of the longest message.
const maxMessage = 4096

// message is one message from the wire.
type message struct {
	kind  byte
	text  string
	stats Stats
}

// parseMessage reads a message from the wire.
func parseMessage(p []byte) (message, error) {
	if len(p) == 0 || len(p) > maxMessage {
		return message{}, fmt.Errorf("wire message of %d bytes: it must have from 1 to %d", len(p), maxMessage)
	}
	m := message{kind: p[0]}
	switch m.kind {
	case msgReady, msgFailed:
		m.text = string(p[1:])
	case msgStats:
		var err error
		if m.stats, err = decodeStats(p[1:]); err != nil {
			return message{}, err
		}
	default:
		return message{}, fmt.Errorf("wire message of unknown kind %q", m.kind)
	}
	return m, nil
}

// textMessage is a message with a text, cut to the longest that passes.
func textMessage(kind byte, text string) []byte {
	p := append([]byte{kind}, text...)
	return p[:min(len(p), maxMessage)]
}

// warnings are the lines of a msgReady.
func (m *message) warnings() []string {
	if m.text == "" {
		return nil
	}
	return strings.Split(m.text, "\n")
}
