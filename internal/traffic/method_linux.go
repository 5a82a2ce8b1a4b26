package traffic

import (
	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// datagramMethod is a way to hand datagrams to the kernel and to get them
// back: the only part of udp_stream that knows the calls.
type datagramMethod struct {
	name string
	// batch is the most datagrams for one call.
	batch int
	// send sends the datagrams in order, and returns how many the kernel took:
	// with an error, those before the one that failed.
	send func(s sys.Sock, datagrams [][]byte) (int, unix.Errno)
	// receive waits for one datagram or more, puts them into the buffers and
	// their sizes into sizes, and returns how many they are.
	receive func(s sys.Sock, buffers [][]byte, sizes []int) (int, unix.Errno)
}

// sendRecv is one datagram a call: send(2) and recv(2).
var sendRecv = datagramMethod{name: "send", batch: 1, send: sendOne, receive: receiveOne}

//go:nosplit
func sendOne(s sys.Sock, datagrams [][]byte) (int, unix.Errno) {
	if _, errno := s.Send(datagrams[0], 0); errno != 0 {
		return 0, errno
	}
	return 1, 0
}

//go:nosplit
func receiveOne(s sys.Sock, buffers [][]byte, sizes []int) (int, unix.Errno) {
	n, errno := s.Recv(buffers[0], 0)
	if errno != 0 {
		return 0, errno
	}
	sizes[0] = n
	return 1, 0
}

// streamMethod is a way to send and receive a TCP stream.
type streamMethod struct {
	name string
	// send sends some bytes of p and returns how many.
	send func(s sys.Sock, p []byte) (int, unix.Errno)
	// receive receives up to len(p) bytes, 0 at the end of the stream.
	receive func(s sys.Sock, p []byte) (int, unix.Errno)
}

// sendRecvStream is send(2) and recv(2).
var sendRecvStream = streamMethod{name: "send", send: sendSome, receive: receiveSome}

//go:nosplit
func sendSome(s sys.Sock, p []byte) (int, unix.Errno) { return s.Send(p, unix.MSG_NOSIGNAL) }

//go:nosplit
func receiveSome(s sys.Sock, p []byte) (int, unix.Errno) { return s.Recv(p, 0) }
