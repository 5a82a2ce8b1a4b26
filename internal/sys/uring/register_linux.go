package uring

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	registerBuffers     = 0  // IORING_REGISTER_BUFFERS, Linux 5.1
	registerProbe       = 8  // IORING_REGISTER_PROBE, Linux 5.6
	registerEnableRings = 12 // IORING_REGISTER_ENABLE_RINGS, Linux 5.10
	registerPbufRing    = 22 // IORING_REGISTER_PBUF_RING, Linux 5.19
)

//go:nosplit
func (r *Ring) register(what uintptr, arg unsafe.Pointer, n int) unix.Errno {
	if r.fd < 0 {
		return unix.EBADF // the kernel takes -1 for a question about no ring
	}
	_, _, errno := syscall.RawSyscall6(unix.SYS_IO_URING_REGISTER, uintptr(r.fd), what, uintptr(arg), uintptr(n), 0, 0)
	return errno
}

// enable makes the ring the calling thread's.
//
//go:nosplit
//go:noinline
func (r *Ring) enable() unix.Errno {
	errno := r.register(registerEnableRings, nil, 0)
	r.disabled = errno != 0
	return errno
}

// probe is struct io_uring_probe with all the places that it can have, and
// probeOp struct io_uring_probe_op.
type probe struct {
	lastOp, opsLen uint8
	_              uint16
	_              [3]uint32
	ops            [256]probeOp
}

type probeOp struct {
	op, _ uint8
	flags uint16
	_     uint32
}

// opSupported is IO_URING_OP_SUPPORTED.
const opSupported = 1 << 0

// Supports reports whether the kernel has all of the operations.
func (r *Ring) Supports(ops ...Op) (bool, error) {
	var p probe
	if errno := r.register(registerProbe, unsafe.Pointer(&p), len(p.ops)); errno != 0 {
		return false, fmt.Errorf("ask for the operations of io_uring (IORING_REGISTER_PROBE): %w", errno)
	}
	for _, op := range ops {
		if p.ops[op].flags&opSupported == 0 {
			return false, nil
		}
	}
	return true, nil
}

// maxMemory is the most that the kernel takes as one fixed buffer.
const maxMemory = 1 << 30

// stride is the distance between buffers of a size: a whole number of cache
// lines.
func stride(size int) int { return (size + 63) &^ 63 }

// allocate maps memory that lives as long as the ring, and touches all of it.
func (r *Ring) allocate(n, size int) ([]byte, error) {
	if n < 1 || size < 1 || size > maxMemory || n > maxMemory/stride(size) {
		return nil, fmt.Errorf("%d buffers of %d bytes for an io_uring: there must be 1 or more of 1 byte or more, together at most %d bytes", n, size, maxMemory)
	}
	if r.fd < 0 {
		return nil, fmt.Errorf("make buffers for an io_uring that is closed: %w", unix.EBADF)
	}
	m, err := unix.Mmap(-1, 0, n*stride(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("make %d buffers of %d bytes for an io_uring: %w", n, size, err)
	}
	for i := range m {
		m[i] = byte(i)
	}
	r.memory = append(r.memory, m)
	return m, nil
}

// Buffers makes n buffers of size bytes each, together at most 1 GiB. They are
// the ring's: no use after Close. fixed ones are known to the kernel, so that
// it need not look for their pages each time, and can be had once for a ring.
// They count against RLIMIT_MEMLOCK without CAP_IPC_LOCK (ENOMEM).
func (r *Ring) Buffers(n, size int, fixed bool) ([][]byte, error) {
	m, err := r.allocate(n, size)
	if err != nil {
		return nil, err
	}
	if fixed {
		all := unix.Iovec{Base: &m[0]}
		all.SetLen(len(m))
		if errno := r.register(registerBuffers, unsafe.Pointer(&all), 1); errno != 0 {
			return nil, fmt.Errorf("fix %d bytes of buffers of an io_uring (IORING_REGISTER_BUFFERS): %w", len(m), errno)
		}
	}
	buffers := make([][]byte, n)
	for i := range buffers {
		buffers[i] = m[i*stride(size):][:size:size]
	}
	return buffers, nil
}
