package traffic

import "golang.org/x/sys/unix"

const (
	// zeroCopySends is how many sends of a stream, and at most how many
	// datagrams, are under way: the socket's buffer is the limit rather.
	zeroCopySends = 1024
	// zeroCopyMemory is the bytes of buffers for datagrams.
	zeroCopyMemory = 4 << 20
)

// zeroCopyStream is send(2) with MSG_ZEROCOPY, a message or what is left of it
// in each call. All of them send the same memory, to which nobody writes.
type zeroCopyStream struct {
	*zeroCopy
	buffer []byte
}

func newZeroCopyStream(s *socket, cfg Config) (streamSender, error) {
	z, err := newZeroCopy(s, zeroCopySends)
	if err != nil {
		return nil, err
	}
	return &zeroCopyStream{zeroCopy: z, buffer: makeBuffers(1, min(cfg.Test.Params.Size, maxWrite))[0]}, nil
}

//go:nosplit
func (m *zeroCopyStream) send(n int) (int, unix.Errno) {
	if m.full() && !m.reap() {
		if errno := m.await(int64(pollTime)); errno != 0 {
			return 0, errno
		}
	}
	if m.full() {
		return 0, unix.EAGAIN
	}
	return m.put(m.buffer[:min(n, len(m.buffer))])
}

// zeroCopyDatagram is send(2) with MSG_ZEROCOPY, a datagram a call. Each slot
// has a buffer of its own, which is written to only when the kernel has done
// with it.
type zeroCopyDatagram struct {
	*zeroCopy
	buffers [][]byte
	spare   [][]byte // for a batch when no buffer is free, never sent
	free    bool     // the latest batch is a buffer's
}

func newZeroCopyDatagram(s *socket, cfg Config) (datagramSender, error) {
	size := cfg.Test.Params.Size
	slots := zeroCopySends
	for slots*size > zeroCopyMemory {
		slots /= 2
	}
	z, err := newZeroCopy(s, slots)
	if err != nil {
		return nil, err
	}
	return &zeroCopyDatagram{zeroCopy: z, buffers: makeBuffers(slots, size), spare: makeBuffers(1, size)}, nil
}

//go:nosplit
func (m *zeroCopyDatagram) batch() [][]byte {
	if m.full() && !m.reap() {
		m.await(int64(pollTime))
	}
	if m.free = !m.full(); !m.free {
		return m.spare
	}
	slot := m.slot(m.next)
	return m.buffers[slot : slot+1]
}

//go:nosplit
func (m *zeroCopyDatagram) send(int) (int, unix.Errno) {
	if !m.free {
		return 0, unix.EAGAIN
	}
	if _, errno := m.put(m.buffers[m.slot(m.next)]); errno != 0 {
		return 0, errno
	}
	return 1, 0
}
