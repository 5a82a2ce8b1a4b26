package traffic

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/sys"
)

// zeroCopy sends with MSG_ZEROCOPY and reads from the socket's error queue
// which sends the kernel has done with (Documentation/networking/
// msg_zerocopy.rst).
type zeroCopy struct {
	methodStats
	sock sys.Sock
	next uint32 // the number that the kernel gives to the next send
	// inUse says of the latest sends, by their number modulo its length, which
	// is a power of two, that the kernel may still read their memory.
	inUse  []bool
	reaped int64 // when reports were last read
	// starved says that the kernel had no memory for a send while it had none
	// of ours: it never will.
	starved bool
}

// reapTime is how often reports are read, at least, while there is a send
// after the other. Those that came in meanwhile are one, mostly.
const reapTime = time.Millisecond

// zeroCopyFlags are those of every send.
const zeroCopyFlags = unix.MSG_ZEROCOPY | unix.MSG_NOSIGNAL

// newZeroCopy makes one with so many sends under way at most, a power of two.
func newZeroCopy(s *socket, slots int) (*zeroCopy, error) {
	if err := feature.ZeroCopySend.Err(); err != nil {
		return nil, fmt.Errorf("send method zerocopy: %w", err)
	}
	if err := unix.SetsockoptInt(int(s.Sock), unix.SOL_SOCKET, unix.SO_ZEROCOPY, 1); err != nil {
		return nil, unavailable("zerocopy", "set SO_ZEROCOPY of a "+s.what, "a socket of this kind that can", err)
	}
	z := &zeroCopy{sock: s.Sock, inUse: make([]bool, slots)}
	s.explain = z.explain
	return z, nil
}

// slot is where inUse has the send of a number.
//
//go:nosplit
func (z *zeroCopy) slot(number uint32) int { return int(number) & (len(z.inUse) - 1) }

// full says that the slot of the next send is in use.
//
//go:nosplit
func (z *zeroCopy) full() bool { return z.inUse[z.slot(z.next)] }

// outstanding is how many sends the kernel has not done with.
//
//go:nosplit
func (z *zeroCopy) outstanding() int {
	n := 0
	for _, used := range z.inUse {
		if used {
			n++
		}
	}
	return n
}

// put sends memory that nobody writes to before the slot is free again. The
// slot is free now.
//
//go:nosplit
func (z *zeroCopy) put(p []byte) (int, unix.Errno) {
	n, errno := z.try(p)
	if errno != unix.ENOBUFS {
		if sys.Nanotime()-z.reaped >= int64(reapTime) {
			z.reap()
		}
		return n, errno
	}
	// Each send that has not been reported takes of the memory that
	// net.core.optmem_max limits; pinned pages take of RLIMIT_MEMLOCK.
	if !z.reap() {
		if z.outstanding() == 0 {
			z.starved = true
			return 0, errExplained
		}
		if errno := z.await(int64(pollTime)); errno != 0 {
			return 0, errno
		}
	}
	if n, errno = z.try(p); errno == unix.ENOBUFS {
		errno = unix.EAGAIN
	}
	return n, errno
}

//go:nosplit
func (z *zeroCopy) try(p []byte) (int, unix.Errno) {
	slot := z.slot(z.next)
	z.inUse[slot] = true
	z.calls++
	n, errno := z.sock.Send(p, zeroCopyFlags)
	if errno == 0 {
		z.next++
		return n, 0
	}
	if errno != unix.EAGAIN && errno != unix.ENOBUFS {
		// A datagram that was refused on its way out, by a filter perhaps, has
		// a number all the same, and has been reported by now.
		z.reap()
	}
	if z.slot(z.next) == slot {
		z.inUse[slot] = false
	}
	return 0, errno
}

// reap reads all that the kernel reports now. It says whether there was
// anything.
//
//go:nosplit
func (z *zeroCopy) reap() (some bool) {
	for {
		var r sys.ZeroCopyRange
		z.calls++
		ok, errno := z.sock.ZeroCopyDone(&r)
		if errno != 0 {
			z.reaped = sys.Nanotime()
			return some
		}
		if ok {
			some = true
			z.done(&r)
		}
	}
}

// done takes note of a report.
//
//go:nosplit
func (z *zeroCopy) done(r *sys.ZeroCopyRange) {
	n := r.Count()
	z.completed += int64(n)
	if r.Copied {
		z.copied += int64(n)
	}
	for i := range min(n, uint32(len(z.inUse))) {
		z.inUse[z.slot(r.Last-i)] = false
	}
	if int32(r.Last-z.next) >= 0 { // see try
		z.next = r.Last + 1
	}
}

// await waits for a report, at most so many nanoseconds. With none it returns
// EAGAIN.
//
//go:nosplit
func (z *zeroCopy) await(nanoseconds int64) unix.Errno {
	z.calls++
	if _, errno := z.sock.Wait(0, nanoseconds); errno != 0 {
		return errno
	}
	if !z.reap() {
		return unix.EAGAIN
	}
	return 0
}

// finish doesn't mind what a peer that reads nothing leaves outstanding: it is
// dropped with the connection.
func (z *zeroCopy) finish(limit time.Duration) error {
	z.reap()
	for until := sys.Nanotime() + int64(limit); z.outstanding() > 0 && sys.Nanotime() < until; {
		if z.await(int64(time.Millisecond)) == unix.EAGAIN {
			// An error of the socket ends each wait at once.
			sys.SleepUntil(sys.Nanotime() + int64(time.Millisecond))
		}
	}
	return nil
}

func (z *zeroCopy) close() error { return nil }

// explain is of a send that can never succeed.
func (z *zeroCopy) explain(errno unix.Errno) error {
	if errno != errExplained || !z.starved {
		return nil
	}
	return refused(fmt.Errorf("send method zerocopy: send with MSG_ZEROCOPY, with nothing outstanding: %w "+
		"(needs a larger net.core.optmem_max, and RLIMIT_MEMLOCK (ulimit -l) for the pages of a message, or CAP_IPC_LOCK)", unix.ENOBUFS))
}
