//go:build linux || darwin || freebsd

package traffic

import (
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
)

// A method is a way to hand data to the kernel or to get it back, for one
// socket: the only part of a stream that knows the calls. It is one file, and
// one row of sendMethods or recvMethods, which packages spec's tables name.
//
// Methods belong to the traffic thread. What they do for each message
// allocates nothing, and has no stack check as far as that can be (sys.Sock).
type method interface {
	// stats is what the method counts of itself; it stays the same pointer.
	stats() *methodStats
	// finish waits, at most so long, until the kernel has done with all that
	// was given to it. It is called once, before the connection is hung up.
	finish(limit time.Duration) error
	// close gives up what the method holds, but not the socket.
	close() error
}

// methodStats is what a method has done since it was made.
type methodStats struct {
	// calls is how many system calls it has made, those that only waited or
	// asked for completions included.
	calls int64
	// completed is how many sends without copying the kernel has done with,
	// and copied how many of these it copied all the same.
	completed, copied int64
	// received is the bytes that a receiver that maps has had, and mapped how
	// many of these it did not have to copy.
	received, mapped int64
}

func (m *methodStats) stats() *methodStats { return m }

// plainMethod is what methods have that hold nothing and leave nothing behind.
type plainMethod struct{ methodStats }

func (*plainMethod) finish(time.Duration) error { return nil }
func (*plainMethod) close() error               { return nil }

// streamSender sends a TCP stream.
type streamSender interface {
	method
	// send sends at most n bytes, 1 and up, and returns how many. It waits for
	// room at most as long as the socket's own timeout and then returns EAGAIN.
	send(n int) (int, unix.Errno)
}

// streamReceiver receives a TCP stream.
type streamReceiver interface {
	method
	// receive waits for data, at most as long as the socket's own timeout
	// (EAGAIN), and returns how many bytes came: 0 at the end of the stream.
	receive() (int, unix.Errno)
}

// datagramSender sends datagrams of the test's size.
type datagramSender interface {
	method
	// batch returns the datagrams to be filled in and sent next, one or more,
	// all of the test's size. It may wait for buffers that the kernel still
	// reads.
	batch() [][]byte
	// send sends the first n of the latest batch in order, and returns how
	// many the kernel took: with an error, those before the one that failed.
	send(n int) (int, unix.Errno)
}

// datagramReceiver receives datagrams.
type datagramReceiver interface {
	method
	// receive waits for one datagram or more, at most as long as the socket's
	// own timeout (EAGAIN), and returns how many came.
	receive() (int, unix.Errno)
	// datagram is the ith that came with the latest receive: its beginning, of
	// which there are at least the first maxSequence bytes, and its whole length.
	datagram(i int) (head []byte, size int)
}

// sendMethod and recvMethod are rows of the two tables. A function is nil
// where the method does not carry that protocol. Its error wraps
// feature.ErrUnavailable if the kernel, the socket or the device refuses.
type sendMethod struct {
	name     string
	stream   func(*socket, Config) (streamSender, error)
	datagram func(*socket, Config) (datagramSender, error)
}

type recvMethod struct {
	name     string
	stream   func(*socket, Config) (streamReceiver, error)
	datagram func(*socket, Config) (datagramReceiver, error)
}

// sendMethodOf is the row that a test asks for.
func sendMethodOf(cfg Config) (sendMethod, error) {
	name := cfg.Test.SendMethod().Name
	i := slices.IndexFunc(sendMethods, func(m sendMethod) bool { return m.name == name })
	if i < 0 {
		return sendMethod{}, noMethod("send", name)
	}
	return sendMethods[i], nil
}

func recvMethodOf(cfg Config) (recvMethod, error) {
	name := cfg.Test.RecvMethod().Name
	i := slices.IndexFunc(recvMethods, func(m recvMethod) bool { return m.name == name })
	if i < 0 {
		return recvMethod{}, noMethod("receive", name)
	}
	return recvMethods[i], nil
}

func noMethod(direction, name string) error {
	return fmt.Errorf("%s method %s: %w: it is Linux's, this is %s", direction, name, feature.ErrUnavailable, feature.Kernel())
}

// unavailable says that a method was refused: what was tried, and what it
// needs.
func unavailable(method, tried, need string, err error) error {
	return &feature.Error{Feature: "method " + method, Tried: tried, Need: need, Kernel: feature.Kernel().String(), Err: err}
}

// methodWindow is what a method did while the window was open.
type methodWindow struct {
	begin, end methodStats
	opened     bool // begin was taken
}

// sendCounts adds what the sender's method did in the window to the counts.
func (w *methodWindow) sendCounts(counts map[string]int64) {
	counts[CountSendCalls] = w.end.calls - w.begin.calls
	if n := w.end.completed - w.begin.completed; n > 0 {
		counts[CountZeroCopy], counts[CountZeroCopied] = n, w.end.copied-w.begin.copied
	}
}

// recvCounts adds what the receiver's method did. The message that opens a
// window late is counted in it, and its call was made before: where there was
// no other, that is the window's.
func (w *methodWindow) recvCounts(counts map[string]int64, messages int64) {
	counts[CountReceiveCalls] = max(w.end.calls-w.begin.calls, min(1, messages))
	if n := w.end.received - w.begin.received; n > 0 {
		counts[CountMapReceived], counts[CountMapped] = n, w.end.mapped-w.begin.mapped
	}
}

// turned takes a method's counts where the window begins and ends. One that did
// both at once is told of as closed only.
func (w *methodWindow) turned(p phase, s *methodStats) {
	if p == open || p == closed && !w.opened {
		w.begin, w.opened = *s, true
	}
	if p == closed {
		w.end = *s
	}
}

// closeMethod closes a method that may not have been made.
func closeMethod(m method) error {
	if m == nil {
		return nil
	}
	return m.close()
}
