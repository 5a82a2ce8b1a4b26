package traffic

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/unit"
)

const (
	// madeSize is the size of a file that is made for a trial, in bytes.
	madeSize = 64 << 20
	// cachedSize is the largest file that is read into the page cache before
	// the trial, so that it measures no disk. One that is made and is larger
	// has no room of its own on any disk: it is a hole.
	cachedSize = 256 << 20
)

// make makes a file without a name of size zeros, madeSize if size is 0, where
// temporary files are made, or in memory if those are not to be had there.
func (p *payload) make(size int64) error {
	if size == 0 {
		size = madeSize
	}
	dir := os.TempDir()
	p.name = fmt.Sprintf("the unnamed file of %s in %s", unit.FormatSize(size), dir)
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		var inMemory error
		if fd, inMemory = unix.MemfdCreate("netdelta", unix.MFD_CLOEXEC); inMemory != nil {
			return fmt.Errorf("make a file to send, in %s (O_TMPFILE): %w, and in memory (memfd_create): %w", dir, err, inMemory)
		}
		p.name = fmt.Sprintf("the unnamed file of %s in memory", unit.FormatSize(size))
		p.odd = []result.Warning{{Code: WarnFile, Text: fmt.Sprintf("the file that is sent is in memory (memfd), since none could be made in %s: %v", dir, err),
			Advice: "set TMPDIR of that end to a directory on the file system that matters, or name a file (file=)"}}
	}
	if size > cachedSize {
		p.odd = append(p.odd, result.Warning{Code: WarnFile,
			Text:   fmt.Sprintf("%s is a hole: its pages are zeros that the kernel makes when they are read", p.name),
			Advice: fmt.Sprintf("name a file (file=), or take filesize up to %s, which is in the page cache", unit.FormatSize(cachedSize))})
	}
	p.fd, p.size = fd, size
	if err := p.allot(); err != nil {
		return errors.Join(fmt.Errorf("make %s, to send it: %w (filesize makes it smaller, TMPDIR has it elsewhere)", p.name, err), p.close())
	}
	return nil
}

// allot gives the file its size and, unless it is large, room for all of it.
func (p *payload) allot() error {
	if err := again(func() error { return unix.Ftruncate(p.fd, p.size) }); err != nil {
		return fmt.Errorf("ftruncate: %w", err)
	}
	if p.size > cachedSize {
		return nil
	}
	// In a file system in memory a hole would have no pages to send from. One
	// that can't allot does without: its holes are read into the page cache.
	err := again(func() error { return unix.Fallocate(p.fd, 0, 0, p.size) })
	if err != nil && err != unix.EOPNOTSUPP && err != unix.ENOSYS {
		return fmt.Errorf("fallocate: %w", err)
	}
	return nil
}

// cache reads the file once, so that its pages are in memory.
func (p *payload) cache() error {
	buffer := make([]byte, min(p.size, 1<<20))
	for at := int64(0); at < p.size; {
		var n int
		err := again(func() (err error) { n, err = unix.Pread(p.fd, buffer, at); return err })
		if err != nil {
			return fmt.Errorf("read %s at %d: %w", p.name, at, err)
		}
		if n == 0 {
			return fmt.Errorf("%s shrank while it was read: it had %s, and now it ends at byte %d: %w",
				p.name, unit.FormatSize(p.size), at, io.ErrUnexpectedEOF)
		}
		at += int64(n)
	}
	return nil
}

// again repeats a call that signals interrupt.
func again(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}
