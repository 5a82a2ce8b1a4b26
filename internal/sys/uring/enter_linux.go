package uring

import (
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	enterGetEvents = 1 << 0 // IORING_ENTER_GETEVENTS
	enterExtArg    = 1 << 3 // IORING_ENTER_EXT_ARG, Linux 5.11
)

// Next pushes an operation, to be filled in before Enter is called; nil if the
// queue is full.
//
//go:nosplit
func (r *Ring) Next() *SQE {
	if r.sqHead == nil || r.tail-atomic.LoadUint32(r.sqHead) >= uint32(len(r.sqes)) {
		return nil
	}
	s := &r.sqes[r.tail&uint32(len(r.sqes)-1)]
	r.tail++
	return s
}

// Withdraw takes back what was pushed and not handed over, and returns how
// many operations that were. After a call of Enter there are such only where
// the kernel had no memory for them.
//
//go:nosplit
func (r *Ring) Withdraw() int {
	if r.sqHead == nil {
		return 0
	}
	n := r.tail - atomic.LoadUint32(r.sqHead)
	r.tail -= n
	return int(n)
}

// Enter hands over what was pushed, and waits until at least so many
// completions can be read, which is 0 for not at all and at most those that the
// ring has room for; but no longer than timeout nanoseconds (ETIME). One
// system call is made (io_uring_enter(2)). ETIME, which a signal can bring on early, and EINTR can come after
// operations were handed over. EEXIST: another thread's ring. EBADF: the ring
// is closed. EAGAIN, EBUSY: the kernel had no memory; what it did not take
// stays pushed.
//
//go:nosplit
func (r *Ring) Enter(wait int, timeout int64) unix.Errno {
	if r.sqHead == nil {
		return unix.EBADF
	}
	if r.disabled {
		if errno := r.enable(); errno != 0 {
			return errno
		}
	}
	before := atomic.LoadUint32(r.sqHead)
	atomic.StoreUint32(r.sqTail, r.tail)
	r.timeout.seconds, r.timeout.nanoseconds = timeout/int64(time.Second), timeout%int64(time.Second)
	_, _, errno := syscall.RawSyscall6(unix.SYS_IO_URING_ENTER, uintptr(r.fd), uintptr(r.tail-before), uintptr(wait),
		enterGetEvents|enterExtArg, uintptr(unsafe.Pointer(&r.arg)), unsafe.Sizeof(r.arg))
	r.inFlight += int(atomic.LoadUint32(r.sqHead) - before)
	if errno == 0 && r.Ready() < wait {
		// The call then tells how many operations it took, not why it ended.
		return unix.ETIME
	}
	return errno
}

// Ready is how many completions can be read without a call.
//
//go:nosplit
func (r *Ring) Ready() int {
	if r.cqTail == nil {
		return 0
	}
	return int(atomic.LoadUint32(r.cqTail) - r.head)
}

// Peek is the oldest completion that was not read, nil if there is none. It is
// good until Seen.
//
//go:nosplit
func (r *Ring) Peek() *CQE {
	if r.Ready() == 0 {
		return nil
	}
	return &r.cqes[r.head&uint32(len(r.cqes)-1)]
}

// Seen says that the completion of Peek was read.
//
//go:nosplit
func (r *Ring) Seen() {
	c := r.Peek()
	if c == nil {
		return
	}
	if !c.More() {
		r.inFlight--
	}
	r.head++
	atomic.StoreUint32(r.cqHead, r.head)
}

// InFlight is how many operations were handed over and have a completion, or
// a notice, that was not read.
//
//go:nosplit
func (r *Ring) InFlight() int { return r.inFlight }
