package traffic

import "golang.org/x/sys/unix"

// uringUnread is the most bytes that a stream's sender without copying hands
// over while the kernel may still read them. It is far more than a socket's
// buffer: the kernel tells of many sends at once, when it is done with the last.
const uringUnread = 16 << 20

// uringStream sends a TCP stream over io_uring: up to a MiB in a chain of
// pieces that stay in the processor's cache, all from one buffer.
//
// Each piece is sent whole (MSG_WAITALL), so that the next one begins where it
// ended. The next chain is handed over when the latest is done.
type uringStream struct {
	uringSender
	buffer []byte
	size   int // of a message
	depth  int
	most   int // sends whose memory the kernel may still read
	// ahead says that messages may be handed over before they are asked for:
	// not where their number or their time is given.
	ahead bool
}

func newURingStream(s *socket, cfg Config) (streamSender, error) {
	return openURingStream(s, cfg, false)
}

func newURingZCStream(s *socket, cfg Config) (streamSender, error) {
	return openURingStream(s, cfg, true)
}

func openURingStream(s *socket, cfg Config, zc bool) (streamSender, error) {
	p := cfg.Test.Params
	piece := min(p.Size, maxChunk)
	sender, buffers, err := newURingSender(s, zc, 1, 1, piece)
	if err != nil {
		return nil, err
	}
	return &uringStream{
		uringSender: sender,
		buffer:      buffers[0][0],
		size:        p.Size,
		depth:       min(uringDepth, maxWrite/piece),
		most:        min(uringNotices, uringUnread/piece),
		ahead:       p.Count == 0 && p.Bytes == 0 && p.Rate == 0 && p.BitRate == 0,
	}, nil
}

// send makes one call at most. What it hands over beyond n is what later calls
// return without one.
//
//go:nosplit
func (m *uringStream) send(n int) (int, unix.Errno) {
	if sent, errno := m.ended(); sent > 0 || errno != 0 {
		return sent, errno
	}
	if m.sending == 0 && m.busy[0] <= m.most-m.depth {
		m.chain(n)
	}
	errno := m.enter(max(1, m.sending), int64(pollTime))
	if sent, errno := m.ended(); sent > 0 || errno != 0 {
		return sent, errno
	}
	if errno == 0 || errno == unix.ETIME || errno == unix.EBUSY {
		return 0, unix.EAGAIN
	}
	return 0, errno
}

// ended is how the oldest send ended that was not accounted for; 0, 0 if the
// kernel has told of none.
//
//go:nosplit
func (m *uringStream) ended() (int, unix.Errno) {
	for {
		res, ok := m.next()
		switch {
		case !ok:
			return 0, 0
		case res > 0:
			return res, 0
		case res < 0 && res != -int(unix.ECANCELED): // those come behind one that failed
			return 0, unix.Errno(-res)
		}
	}
}

// chain pushes pieces of the message of which n bytes are to be sent, and of
// the messages after it.
//
//go:nosplit
func (m *uringStream) chain(n int) {
	for i := range m.depth {
		piece := min(n, len(m.buffer))
		n -= piece
		last := i == m.depth-1 || n == 0 && !m.ahead
		m.push(m.buffer[:piece], unix.MSG_WAITALL, 0, last)
		if last {
			return
		}
		if n == 0 {
			n = m.size
		}
	}
}
