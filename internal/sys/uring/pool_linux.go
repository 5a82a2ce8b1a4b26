package uring

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Pool is buffers of which the kernel takes one for each message that comes:
// a ring of provided buffers (io_uring_provided_buffers(7), Linux 5.19). It is
// its Ring's: no use after that was closed.
type Pool struct {
	group   uint16
	entries []bufEntry
	memory  []byte
	size    int
	tail    uint16
	first   uint16 // the buffer in entries[0]
}

// bufEntry is struct io_uring_buf. In the first one reserved is the tail of
// the ring (struct io_uring_buf_ring).
type bufEntry struct {
	addr     uint64
	length   uint32
	id       uint16
	reserved uint16
}

// bufReg is struct io_uring_buf_reg.
type bufReg struct {
	addr    uint64
	entries uint32
	group   uint16
	flags   uint16
	_       [3]uint64
}

// maxPool is the most buffers that a ring of them can have.
const maxPool = 32768

// Provide makes a pool of n buffers, a power of two up to 32768, of size bytes
// each. All are in it. Kernels before 5.19 answer EINVAL.
func (r *Ring) Provide(n, size int) (*Pool, error) {
	if n < 1 || n > maxPool || n&(n-1) != 0 {
		return nil, fmt.Errorf("pool of %d buffers for an io_uring: it must be a power of two, 1 to %d", n, maxPool)
	}
	m, err := r.allocate(n, size)
	if err != nil {
		return nil, err
	}
	page := os.Getpagesize()
	bytes := (n*int(unsafe.Sizeof(bufEntry{})) + page - 1) &^ (page - 1)
	ring, err := unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
	if err != nil {
		return nil, fmt.Errorf("make a pool of %d buffers for an io_uring: %w", n, err)
	}
	r.memory = append(r.memory, ring)
	p := &Pool{entries: unsafe.Slice((*bufEntry)(unsafe.Pointer(&ring[0])), n), memory: m, size: size, group: r.pools}
	reg := bufReg{addr: uint64(uintptr(unsafe.Pointer(&ring[0]))), entries: uint32(n), group: p.group}
	if errno := r.register(registerPbufRing, unsafe.Pointer(&reg), 1); errno != 0 {
		return nil, fmt.Errorf("make a pool of %d buffers for an io_uring (IORING_REGISTER_PBUF_RING): %w", n, errno)
	}
	r.pools++
	for id := range n {
		p.Give(uint16(id))
	}
	return p, nil
}

// Buffer is the memory of a buffer.
//
//go:nosplit
func (p *Pool) Buffer(id uint16) []byte {
	return p.memory[int(id)*stride(p.size):][:p.size:p.size]
}

// Give gives a buffer back that the kernel had filled. Each must be given back
// once for each time that it was filled.
//
//go:nosplit
func (p *Pool) Give(id uint16) {
	slot := p.tail & uint16(len(p.entries)-1)
	e := &p.entries[slot]
	b := p.Buffer(id)
	e.addr, e.length = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))), uint32(len(b))
	if slot == 0 {
		p.first = id
	} else {
		e.id = id
	}
	p.tail++
	// There is no atomic store of 16 bits, so the tail goes with its neighbour,
	// the first entry's id, which only this thread writes.
	var word [4]byte
	binary.NativeEndian.PutUint16(word[:2], p.first)
	binary.NativeEndian.PutUint16(word[2:], p.tail)
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&p.entries[0].id)), binary.NativeEndian.Uint32(word[:]))
}
