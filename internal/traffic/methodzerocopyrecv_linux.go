package traffic

import (
	"fmt"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/sys"
)

// zeroCopyRecv is TCP_ZEROCOPY_RECEIVE: what came in whole pages is mapped.
// What did not, and what the path's driver puts elsewhere than into pages, is
// copied and does not count as mapped.
type zeroCopyRecv struct {
	plainMethod
	sock   sys.Sock
	pages  *sys.ZeroCopyReceiver
	buffer []byte
	errno  unix.Errno // an error of the socket that came with data
}

func newZeroCopyRecv(s *socket, _ Config) (streamReceiver, error) {
	if err := feature.ZeroCopyReceive.Err(); err != nil {
		return nil, fmt.Errorf("receive method zerocopy: %w", err)
	}
	pages, err := sys.NewZeroCopyReceiver(s.Sock, maxWrite)
	if err != nil {
		return nil, unavailable("zerocopy", "map a "+s.what, "room for the mapping", err)
	}
	return &zeroCopyRecv{sock: s.Sock, pages: pages, buffer: makeBuffers(1, maxChunk)[0]}, nil
}

//go:nosplit
func (m *zeroCopyRecv) receive() (int, unix.Errno) {
	if n, errno := m.take(); n > 0 || errno != 0 {
		return n, errno
	}
	m.calls++
	if ready, errno := m.sock.Wait(unix.POLLIN, int64(pollTime)); !ready {
		if errno == 0 {
			errno = unix.EAGAIN
		}
		return 0, errno
	}
	if n, errno := m.take(); n > 0 || errno != 0 {
		return n, errno
	}
	return m.copy(len(m.buffer)) // the end, most likely
}

// take takes what there is, and never waits: 0 bytes are nothing, or the end.
//
//go:nosplit
func (m *zeroCopyRecv) take() (int, unix.Errno) {
	if errno := m.errno; errno != 0 {
		m.errno = 0
		return 0, errno
	}
	m.calls++
	mapped, copied, skip, errno := m.pages.Receive()
	if errno == unix.EIO { // the end
		return 0, 0
	}
	n := mapped + copied
	m.mapped += int64(mapped)
	m.received += int64(n)
	if skip > 0 && errno == 0 {
		var more int
		if more, errno = m.copy(min(skip, len(m.buffer))); errno == unix.EAGAIN {
			errno = 0
		}
		n += more
	}
	if n > 0 {
		m.errno, errno = errno, 0
	}
	return n, errno
}

// copy receives at most so many bytes by recv(2), without a wait.
//
//go:nosplit
func (m *zeroCopyRecv) copy(most int) (int, unix.Errno) {
	m.calls++
	n, errno := m.sock.Recv(m.buffer[:most], unix.MSG_DONTWAIT)
	if errno != 0 {
		return 0, errno
	}
	m.received += int64(n)
	return n, 0
}

func (m *zeroCopyRecv) close() error {
	if err := m.pages.Close(); err != nil {
		return fmt.Errorf("unmap a TCP socket: %w", err)
	}
	return nil
}
