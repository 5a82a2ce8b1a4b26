// Package uring is io_uring(7) by its system calls: a queue of operations that
// is shared with the kernel, so that one call hands over many.
//
// A Ring belongs to one thread: the one that calls Enter first. The kernel then
// works on what it was given only within that thread's calls of Enter
// (IORING_SETUP_DEFER_TASKRUN), so nothing disturbs the thread between them.
// Kernels before 6.1 cannot do that and have rings that any thread may drive,
// one at a time.
//
// Nothing allocates after New, Buffers and Provide. Methods of the hot path have
// no stack check (see sys.Sock), and use RawSyscall.
//
// Structures and numbers are those of linux/io_uring.h; io_uring_setup(2),
// io_uring_enter(2) and io_uring_register(2) explain them.
package uring

import "fmt"

// Options are what a ring is made with.
type Options struct {
	// Entries is how many operations can be pushed before a call of Enter: 1
	// to MaxEntries. The kernel rounds up to a power of two.
	Entries int
	// Completions is how many completions the kernel can keep until they are
	// read, at least Entries and at most 2 MaxEntries; 0 is twice Entries.
	// Beyond that it keeps them elsewhere, which is slow.
	Completions int
}

// MaxEntries is IORING_MAX_ENTRIES of the kernel's io_uring/io_uring.c.
const MaxEntries = 32768

func (o Options) check() error {
	if o.Entries < 1 || o.Entries > MaxEntries {
		return fmt.Errorf("ring of %d entries: it must have 1 to %d", o.Entries, MaxEntries)
	}
	if o.Completions != 0 && (o.Completions < o.Entries || o.Completions > 2*MaxEntries) {
		return fmt.Errorf("ring of %d completions: it must have %d (its entries) to %d, or 0 for twice its entries", o.Completions, o.Entries, 2*MaxEntries)
	}
	return nil
}
