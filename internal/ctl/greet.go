package ctl

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// greetBound is how long the two sides may take to agree on how they talk,
// from the first byte on.
const greetBound = 5 * time.Second

// A connection begins with TLS, or on an insecure agent with markPlain from
// each side. The other answers are there for the sake of good messages: each
// side tells a peer that begins in the other way what is amiss. Marks end as
// lines do, so that another service answers too.
const (
	markPlain  = "netdelta plain\r\n" // no encryption, from both sides
	markSecret = "netdelta secret\n"  // an agent's answer to markPlain if it has a secret
	markReady  = "netdelta ready\r\n" // an agent's first word within TLS: the client is accepted
	markSize   = len(markPlain)
)

// maxHeard is how much of a foreign service's first words is kept.
const maxHeard = 40

// tlsHandshake is the first byte of a TLS connection (RFC 8446, 5.1).
const tlsHandshake = 0x16

// What a server finds wrong with who connects.
var (
	errNoMark  = errors.New("what came is no netdelta client's: another program, or a port scan")
	errNoTLS   = errors.New("the client came with --insecure, this agent asks for a secret")
	errUnasked = errors.New("the client came with a secret, this agent runs --insecure")
	errSilent  = fmt.Errorf("nothing came within %v", greetBound)
)

// readMark reads one of the marks, or finds out with the first byte that
// differs that none will come. What it has read, it returns in any case; most
// is the most that it reads.
func readMark(r io.Reader, most int, marks ...string) (string, error) {
	buf := make([]byte, 0, most)
	for {
		n, err := r.Read(buf[len(buf):most])
		buf = buf[:len(buf)+n]
		possible := false
		for _, m := range marks {
			if m == string(buf) {
				return m, nil
			}
			possible = possible || strings.HasPrefix(m, string(buf))
		}
		if !possible {
			return string(buf), errNoMark
		}
		if err != nil {
			return string(buf), err
		}
	}
}

// admit finds out who has connected and returns the connection as it is to be
// used: encrypted, if cfg is not nil, and otherwise plain. The caller has set
// a deadline and closes the connection after an error.
func admit(raw net.Conn, cfg *tls.Config) (net.Conn, error) {
	first := make([]byte, 1)
	if _, err := io.ReadFull(raw, first); err != nil {
		return nil, silence(err)
	}
	conn := &prefixed{Conn: raw, head: first}
	switch {
	case first[0] == tlsHandshake && cfg != nil:
		return admitTLS(conn, cfg)
	case first[0] == tlsHandshake:
		turnAway(conn, markPlain)
		return nil, errUnasked
	}
	if _, err := readMark(conn, markSize, markPlain); err != nil {
		return nil, silence(err)
	}
	if cfg != nil {
		turnAway(conn, markSecret)
		return nil, errNoTLS
	}
	if _, err := io.WriteString(conn, markPlain); err != nil {
		return nil, err
	}
	return raw, nil
}

func admitTLS(raw net.Conn, cfg *tls.Config) (net.Conn, error) {
	conn := tls.Server(raw, cfg)
	if err := conn.Handshake(); err != nil {
		switch {
		case errors.Is(err, errOtherKey), remoteAlert(err, "tls: bad certificate"):
			return nil, fmt.Errorf("%w: the client's is another one than this agent's", ErrSecret)
		case errors.Is(err, errOtherName):
			return nil, errNoMark
		case isTimeout(err):
			return nil, errSilent
		}
		return nil, fmt.Errorf("%w (%w)", errNoMark, err)
	}
	if _, err := io.WriteString(conn, markReady); err != nil {
		return nil, err
	}
	return conn, nil
}

// lingering bounds turnAway, in time and bytes.
const (
	lingerTime  = time.Second
	lingerBytes = 64 << 10
)

// turnAway tells the client why it is turned away. A connection that is closed
// with something unread in it is reset, and a reset overtakes what was said:
// so the client's words are read to their end first.
func turnAway(c *prefixed, mark string) {
	if _, err := io.WriteString(c, mark); err != nil {
		return
	}
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() != nil {
		return
	}
	// The caller's deadline is further off.
	if c.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		io.Copy(io.Discard, io.LimitReader(c, lingerBytes))
	}
}

func silence(err error) error {
	if isTimeout(err) {
		return errSilent
	}
	if errors.Is(err, io.EOF) {
		return errNoMark
	}
	return err
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

// remoteAlert says that the peer has ended the handshake for a reason. crypto/tls
// tells alerts by their text only.
func remoteAlert(err error, text string) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error" && (text == "" || op.Err.Error() == text)
}

// present introduces a client at a fresh connection, and returns it as it is
// to be used. Errors are dialErrors.
func present(ctx context.Context, raw net.Conn, cfg *tls.Config, addr string) (net.Conn, error) {
	heard := &listening{Conn: raw}
	var conn net.Conn
	var err error
	if cfg == nil {
		conn, err = raw, presentPlain(heard)
	} else {
		secured := tls.Client(heard, cfg)
		conn, err = secured, presentTLS(ctx, secured, heard)
	}
	if err == nil {
		return conn, nil
	}
	return nil, unwelcome(err, heard.first, addr)
}

func presentPlain(c net.Conn) error {
	if _, err := io.WriteString(c, markPlain); err != nil {
		return err
	}
	// An agent says no more than the mark before it is asked something.
	m, err := readMark(c, maxHeard, markPlain, markSecret)
	if m == markSecret {
		return ErrSecretWanted
	}
	return err
}

func presentTLS(ctx context.Context, c *tls.Conn, heard *listening) error {
	if err := c.HandshakeContext(ctx); err != nil {
		switch {
		case errors.Is(err, errOtherKey):
			return ErrSecret
		case len(heard.first) > 0 && strings.HasPrefix(markPlain, string(heard.first)):
			return ErrInsecureAgent
		case errors.Is(err, errOtherName), remoteAlert(err, ""):
			return fmt.Errorf("%w (%w)", errNoMark, err)
		}
		return err
	}
	// The client's own key has not been judged when its handshake is done
	// (RFC 8446, 2).
	if _, err := readMark(c, markSize, markReady); remoteAlert(err, "") {
		return ErrSecret
	} else if err != nil {
		return err
	}
	return nil
}

// unwelcome puts into words why a client was not let in, or did not want to
// be. heard is what the other side had said first.
func unwelcome(err error, heard []byte, addr string) *dialError {
	e := new(dialError)
	switch {
	case errors.Is(err, ErrSecret):
		e.kind, e.text = ErrSecret, fmt.Sprintf("the agent at %s has another secret than this end: give both the same (--secret-file)", addr)
	case errors.Is(err, ErrSecretWanted):
		e.kind, e.text = ErrSecretWanted, fmt.Sprintf("the agent at %s asks for a secret: give its secret here (--secret-file) rather than --insecure", addr)
	case errors.Is(err, ErrInsecureAgent):
		e.kind, e.text = ErrInsecureAgent, fmt.Sprintf("the agent at %s runs --insecure, but this end has a secret: start the agent with the secret, or give --insecure here too on an isolated bench", addr)
	case isTimeout(err):
		e.kind, e.text = ErrNoAnswer, fmt.Sprintf("%s accepts connections but says nothing within %v: does another service own the port?", addr, greetBound)
	case len(heard) == 0:
		e.kind, e.text = ErrUnreachable, fmt.Sprintf("%s closed the connection before a netdelta agent had answered: another service may own the port, or the agent has just ended", addr)
	default:
		e.kind, e.text = ErrNotAgent, fmt.Sprintf("no netdelta agent owns %s: %s answers there: name the agent's port", addr, service(heard))
	}
	return e
}

// service guesses what else has answered, for a message.
func service(heard []byte) string {
	line, _, _ := bytes.Cut(heard, []byte("\n"))
	line = bytes.TrimRight(line, "\r")
	if len(line) > 0 && !bytes.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
		return fmt.Sprintf("another service (%q)", line)
	}
	if heard[0] == tlsHandshake || heard[0] == 0x15 { // an alert
		return "another TLS service"
	}
	return "another service"
}

// prefixed is a connection of which the first bytes have been read already.
type prefixed struct {
	net.Conn
	head []byte
}

func (c *prefixed) Read(p []byte) (int, error) {
	if len(c.head) > 0 {
		n := copy(p, c.head)
		c.head = c.head[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// listening keeps the first bytes that come in.
type listening struct {
	net.Conn
	first []byte
}

func (c *listening) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if room := maxHeard - len(c.first); room > 0 {
		c.first = append(c.first, p[:min(n, room)]...)
	}
	return n, err
}
