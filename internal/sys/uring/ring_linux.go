package uring

import (
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Ring is an io_uring. It is not safe for use by several threads at a time.
type Ring struct {
	fd int
	// disabled says that the ring has no thread yet; deferred, that its
	// operations run in its thread's calls only.
	disabled, deferred bool

	// The submission queue. tail is one after what was pushed last; the kernel
	// sees it with the next call of Enter.
	sqHead, sqTail *uint32
	sqes           []SQE
	tail           uint32

	// The completion queue. head is the first that was not read.
	cqHead, cqTail *uint32
	cqes           []CQE
	head           uint32

	// inFlight counts operations that were handed over and have completions to come.
	inFlight int

	arg     geteventsArg
	timeout timespec

	queues, entries []byte   // the two mappings of the queues
	memory          [][]byte // of Buffers and Provide
	pools           uint16   // how many Provide has made
}

// params is struct io_uring_params of linux/io_uring.h.
type params struct {
	sqEntries, cqEntries, flags uint32
	sqThreadCPU, sqThreadIdle   uint32
	features, wqFD              uint32
	_                           [3]uint32
	sq                          sqOffsets
	cq                          cqOffsets
}

// sqOffsets and cqOffsets are struct io_sqring_offsets and io_cqring_offsets:
// where in the mapping the fields of the queues are.
type sqOffsets struct {
	head, tail, mask, entries, flags, dropped, array, _ uint32
	_                                                   uint64
}

type cqOffsets struct {
	head, tail, mask, entries, overflow, cqes, flags, _ uint32
	_                                                   uint64
}

// geteventsArg is struct io_uring_getevents_arg, timespec struct
// __kernel_timespec of linux/time_types.h.
type geteventsArg struct {
	sigmask   uint64
	sigmaskSz uint32
	_         uint32
	ts        uint64
}

type timespec struct{ seconds, nanoseconds int64 }

const (
	setupCQSize       = 1 << 3  // IORING_SETUP_CQSIZE, Linux 5.5
	setupDisabled     = 1 << 6  // IORING_SETUP_R_DISABLED, Linux 5.10
	setupSubmitAll    = 1 << 7  // IORING_SETUP_SUBMIT_ALL, Linux 5.18
	setupCoopTaskrun  = 1 << 8  // IORING_SETUP_COOP_TASKRUN, Linux 5.19
	setupSingleIssuer = 1 << 12 // IORING_SETUP_SINGLE_ISSUER, Linux 6.0
	setupDeferTaskrun = 1 << 13 // IORING_SETUP_DEFER_TASKRUN, Linux 6.1

	featSingleMmap = 1 << 0 // IORING_FEAT_SINGLE_MMAP, Linux 5.4
	featNoDrop     = 1 << 1 // IORING_FEAT_NODROP, Linux 5.5
	featExtArg     = 1 << 8 // IORING_FEAT_EXT_ARG, Linux 5.11
	featsNeeded    = featSingleMmap | featNoDrop | featExtArg

	offQueues  = 0          // IORING_OFF_SQ_RING
	offEntries = 0x10000000 // IORING_OFF_SQES
)

// setups are the ways to set a ring up, the best first. A ring with one issuer
// starts disabled, so that the thread which it belongs to may be another than
// the one that made it.
var setups = []uint32{
	setupCQSize | setupDisabled | setupSubmitAll | setupCoopTaskrun | setupSingleIssuer | setupDeferTaskrun,
	setupCQSize | setupSubmitAll | setupCoopTaskrun,
	setupCQSize,
}

// New sets a ring up. Errors wrap unix.ENOSYS or unix.EPERM where the kernel
// has no io_uring or withholds it, and errors.ErrUnsupported where it is older
// than Linux 5.11.
func New(o Options) (*Ring, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Completions == 0 {
		o.Completions = 2 * o.Entries
	}
	p, fd, err := setup(o)
	if err != nil {
		return nil, err
	}
	r := &Ring{fd: fd, disabled: p.flags&setupDisabled != 0, deferred: p.flags&setupDeferTaskrun != 0}
	if p.features&featsNeeded != featsNeeded {
		err = fmt.Errorf("io_uring of this kernel has features %#x, %#x are needed (Linux 5.11): %w", p.features, featsNeeded, errors.ErrUnsupported)
	} else {
		err = r.mapQueues(p)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.arg.ts = uint64(uintptr(unsafe.Pointer(&r.timeout)))
	return r, nil
}

func setup(o Options) (p *params, fd int, err error) {
	for _, flags := range setups {
		p = &params{flags: flags, cqEntries: uint32(o.Completions)}
		n, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, uintptr(o.Entries), uintptr(unsafe.Pointer(p)), 0)
		if errno == 0 {
			return p, int(n), nil // close-on-exec, always
		}
		if err = os.NewSyscallError("io_uring_setup", errno); errno != unix.EINVAL {
			break
		}
	}
	return nil, 0, fmt.Errorf("set up an io_uring of %d entries: %w", o.Entries, err)
}

// mapQueues maps the memory that is shared with the kernel.
func (r *Ring) mapQueues(p *params) error {
	size := max(uintptr(p.sq.array)+4*uintptr(p.sqEntries), uintptr(p.cq.cqes)+unsafe.Sizeof(CQE{})*uintptr(p.cqEntries))
	var err error
	if r.queues, err = unix.Mmap(r.fd, offQueues, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE); err != nil {
		return fmt.Errorf("map the queues of an io_uring, %d bytes: %w", size, err)
	}
	size = unsafe.Sizeof(SQE{}) * uintptr(p.sqEntries)
	if r.entries, err = unix.Mmap(r.fd, offEntries, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE); err != nil {
		return fmt.Errorf("map the entries of an io_uring, %d bytes: %w", size, err)
	}
	word := func(offset uint32) *uint32 { return (*uint32)(unsafe.Pointer(&r.queues[offset])) }
	r.sqHead, r.sqTail, r.cqHead, r.cqTail = word(p.sq.head), word(p.sq.tail), word(p.cq.head), word(p.cq.tail)
	r.sqes = unsafe.Slice((*SQE)(unsafe.Pointer(&r.entries[0])), p.sqEntries)
	r.cqes = unsafe.Slice((*CQE)(unsafe.Pointer(&r.queues[p.cq.cqes])), p.cqEntries)
	r.tail, r.head = *r.sqTail, *r.cqHead
	// The queue is one of indexes into the entries: here they stay in order.
	array := unsafe.Slice(word(p.sq.array), p.sqEntries)
	for i := range array {
		array[i] = uint32(i)
	}
	return nil
}

// closeTime is how long Close waits for operations that it has cancelled.
const closeTime = 100 * time.Millisecond

// Close ends what is in flight and gives the ring and its memory up. It may be
// called by any thread, but only the ring's own can wait until the kernel has
// let go of the sockets; else that happens a little later.
func (r *Ring) Close() error {
	// Where operations are deferred, none runs after the ring's thread has left
	// Enter. Elsewhere one that is still in flight might write to its buffer,
	// which then stays.
	safe := r.settle(closeTime) || r.deferred
	var errs []error
	if r.fd >= 0 {
		errs = append(errs, unix.Close(r.fd))
		r.fd = -1
	}
	mappings := [][]byte{r.queues, r.entries}
	if safe {
		mappings = append(mappings, r.memory...)
	}
	for _, m := range mappings {
		if m != nil {
			errs = append(errs, unix.Munmap(m))
		}
	}
	*r = Ring{fd: -1}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close an io_uring: %w", err)
	}
	return nil
}

// settle cancels what is in flight and reports whether all of it ended in time.
func (r *Ring) settle(limit time.Duration) bool {
	if r.inFlight == 0 {
		return true
	}
	for until := time.Now().Add(limit); r.inFlight > 0; {
		left := time.Until(until)
		if left <= 0 {
			return false
		}
		r.Withdraw()
		r.Next().CancelAll(0) // again, since one that was about to go on is not found
		switch r.Enter(min(r.inFlight+1, len(r.cqes)), int64(min(left, limit/10))) {
		case 0, unix.ETIME, unix.EINTR:
		default:
			return false // most likely EEXIST: another thread's ring
		}
		for r.Peek() != nil {
			r.Seen()
		}
	}
	return true
}
