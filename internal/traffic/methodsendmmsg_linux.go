package traffic

import (
	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// Limits of what one call is given or asked for: more datagrams save no more
// time, and more bytes fall out of the cache.
const (
	batchDatagrams = 64
	batchBytes     = 256 << 10
)

// batchOf is how many datagrams of a size make a batch, 1 and up.
func batchOf(size int) int { return min(batchDatagrams, max(batchBytes/size, 1)) }

// sendmmsgDatagram is sendmmsg(2), a batch of datagrams a call.
type sendmmsgDatagram struct {
	plainMethod
	sock      sys.Sock
	datagrams [][]byte
	messages  *sys.Messages
}

func newSendmmsgDatagram(s *socket, cfg Config) (datagramSender, error) {
	size := cfg.Test.Params.Size
	m := &sendmmsgDatagram{sock: s.Sock, datagrams: makeBuffers(batchOf(size), size)}
	m.messages = sys.NewMessages(m.datagrams)
	return m, nil
}

//go:nosplit
func (m *sendmmsgDatagram) batch() [][]byte { return m.datagrams }

// send goes on after a call that sent some: only a call that sends none tells
// why.
//
//go:nosplit
func (m *sendmmsgDatagram) send(n int) (int, unix.Errno) {
	for sent := 0; ; {
		m.calls++
		k, errno := m.sock.SendMessages(m.messages, sent, n, 0)
		if sent += k; errno != 0 || sent == n {
			return sent, errno
		}
	}
}

func (m *sendmmsgDatagram) join(*socket) error { return nil }

//go:nosplit
func (m *sendmmsgDatagram) aim(s *socket) { m.sock = s.Sock }
