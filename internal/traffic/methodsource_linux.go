package traffic

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// sourceReceiver receives the datagrams of several flows on a socket that is
// not connected.
type sourceReceiver interface {
	datagramReceiver
	// source is where the ith datagram of the latest receive came from.
	source(i int) *sys.Source
}

// sourceMethods is the table of the receive methods that tell whom a datagram
// is from.
var sourceMethods = []struct {
	name string
	make func(*socket, Config) (sourceReceiver, error)
}{
	{"recv", newRecvFrom},
	{"trunc", newTruncFrom},
	{"recvmmsg", newRecvmmsgFrom},
	{"gro", newGROFrom},
}

// newSourceMethod makes the receive method that a test of several flows asks
// for.
func newSourceMethod(s *socket, cfg Config) (sourceReceiver, error) {
	want := cfg.Test.RecvMethod().Name
	var have []string
	for _, m := range sourceMethods {
		if m.name == want {
			return m.make(s, cfg)
		}
		have = append(have, m.name)
	}
	return nil, fmt.Errorf("receive method %s does not tell whom a datagram is from, as several flows need it: %s do", want, strings.Join(have, ", "))
}

func newRecvmmsgFrom(s *socket, cfg Config) (sourceReceiver, error) {
	m := newRecvmmsg(s, cfg)
	m.messages.WithSources()
	return m, nil
}

func newGROFrom(s *socket, _ Config) (sourceReceiver, error) {
	m, err := newGRO(s)
	if err != nil {
		return nil, err
	}
	m.messages.WithSources()
	return m, nil
}

// fromDatagram is recvfrom(2), a datagram a call: what recv and trunc are on a
// socket that several flows share.
type fromDatagram struct {
	recvDatagram
	flags int
	from  sys.Source
}

func newRecvFrom(s *socket, cfg Config) (sourceReceiver, error) {
	return newFrom(s, max(cfg.Test.Params.Size, maxSequence), 0), nil
}

func newTruncFrom(s *socket, _ Config) (sourceReceiver, error) {
	return newFrom(s, maxSequence, unix.MSG_TRUNC), nil
}

func newFrom(s *socket, room, flags int) *fromDatagram {
	return &fromDatagram{recvDatagram: recvDatagram{sock: s.Sock, buffer: makeBuffers(1, room)[0]}, flags: flags}
}

//go:nosplit
func (m *fromDatagram) receive() (int, unix.Errno) { return m.take(m.flags) }

//go:nosplit
func (m *fromDatagram) poll() (int, unix.Errno) { return m.take(m.flags | unix.MSG_DONTWAIT) }

//go:nosplit
func (m *fromDatagram) take(flags int) (int, unix.Errno) {
	m.calls++
	n, errno := m.sock.ReceiveFrom(m.buffer, flags, &m.from)
	if errno != 0 {
		return 0, errno
	}
	m.size = n
	return 1, 0
}

//go:nosplit
func (m *fromDatagram) source(int) *sys.Source { return &m.from }
