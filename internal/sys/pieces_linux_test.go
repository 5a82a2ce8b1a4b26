package sys_test

import (
	"bytes"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// TestPiecesWriteAll writes lengths around the limits of pieces: all bytes
// come, in order and in one call.
func TestPiecesWriteAll(t *testing.T) {
	page := os.Getpagesize()
	f, err := os.OpenFile(t.TempDir()+"/f", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	v := sys.NewPieces()
	for _, c := range []struct{ size, first int }{
		{1, 1}, {42, 42}, {43, 42}, {42 + page, 42}, {43 + page, 42}, {42 + 2*page, 42},
		{42 + sys.MaxPieces*page, 42}, {43 + sys.MaxPieces*page, 42}, {42 + (sys.MaxPieces+3)*page, 42},
	} {
		p := make([]byte, c.size)
		for i := range p {
			p[i] = byte(i + i>>8)
		}
		if err := f.Truncate(0); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Seek(0, 0); err != nil {
			t.Fatal(err)
		}
		n, e := v.Write(int(f.Fd()), p, c.first)
		if e != 0 || n != c.size {
			t.Errorf("%+v: wrote %d, %v", c, n, e)
			continue
		}
		if got, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(got, p) {
			t.Errorf("%+v: %d other bytes came, %v", c, len(got), err)
		}
	}
	if _, e := v.Write(-1, []byte{1}, 1); e != unix.EBADF {
		t.Errorf("no file: %v", e)
	}
}

func TestPiecesAllocateNothing(t *testing.T) {
	f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	v, p := sys.NewPieces(), make([]byte, 9000)
	if n := testing.AllocsPerRun(100, func() { v.Write(int(f.Fd()), p, 42) }); n != 0 {
		t.Errorf("%v allocations a write", n)
	}
}
