package traffic

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest"
	"netdelta/internal/spec"
)

// payloadOf opens the file that a test with these parameters sends.
func payloadOf(t *testing.T, p spec.Params) (*payload, error) {
	t.Helper()
	f, err := openPayload(Config{Test: spec.Test{Name: "tcp_stream", Params: p}})
	t.Cleanup(func() {
		if err := f.close(); err != nil {
			t.Error(err)
		}
	})
	return f, err
}

func TestPayloadsThatAreNone(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(unix.Mkfifo(path("fifo"), 0o600), os.WriteFile(path("empty"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, says string
		is         error
	}{
		{path("nowhere"), "open the file to send", os.ErrNotExist},
		{dir, "no regular file", unix.EINVAL},
		{path("fifo"), "no regular file", unix.EINVAL},
		{"/dev/zero", "no regular file", unix.EINVAL},
		{path("empty"), "is empty", io.ErrUnexpectedEOF},
		{path("empty/x"), "open the file to send", unix.ENOTDIR},
	} {
		_, err := payloadOf(t, spec.Params{File: c.path})
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.path) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", c.path, err)
		}
	}
}

// TestPayloadIsMade looks at what a file has that is made for a trial: its
// size, all of its memory unless it is large, and none of it afterwards.
func TestPayloadIsMade(t *testing.T) {
	for _, where := range []string{t.TempDir(), "/nowhere at all"} {
		t.Setenv("TMPDIR", where)
		for size, want := range map[int]int64{0: madeSize, 1: 1, 12345: 12345, 5 << 30: 5 << 30} {
			p, err := payloadOf(t, spec.Params{FileSize: size})
			if err != nil {
				t.Fatal(err)
			}
			var s unix.Stat_t
			if err := unix.Fstat(p.fd, &s); err != nil {
				t.Fatal(err)
			}
			if s.Size != want || p.size != want {
				t.Errorf("%s has %d bytes, want %d", p.name, s.Size, want)
			}
			if hole := s.Blocks*512 < s.Size; hole != (want > cachedSize) {
				t.Errorf("%s of %d bytes has %d blocks of 512", p.name, s.Size, s.Blocks)
			}
			odd := 0
			if want > cachedSize {
				odd++
			}
			if where == "/nowhere at all" {
				odd++
			}
			if len(p.warnings()) != odd {
				t.Errorf("%s, of %s: warnings %v, want %d", p.name, where, p.warnings(), odd)
			}
		}
	}
	if left, err := os.ReadDir(os.TempDir()); len(left) != 0 {
		t.Errorf("%v is left behind, %v", left, err)
	}
}

// TestPayloadOnAFullDisk makes one in a file system that is too small, which
// only the thread that mounts it sees.
func TestPayloadOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	type outcome struct{ mount, err error }
	done := make(chan outcome)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with its namespace
		err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS)
		if err == nil {
			err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
		}
		if err == nil {
			err = unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m")
		}
		if err != nil {
			done <- outcome{mount: err}
			return
		}
		_, err = openPayload(Config{Test: spec.Test{Name: "tcp_stream", Params: spec.Params{FileSize: 2 << 20}}})
		done <- outcome{err: err}
	}()
	o := <-done
	if o.mount != nil {
		labtest.Skip(t, o.mount)
	}
	if !errors.Is(o.err, unix.ENOSPC) || !strings.Contains(o.err.Error(), "filesize") || strings.Contains(o.err.Error(), "\n") {
		t.Errorf("error %v", o.err)
	}
}

func TestPayloadGoesRound(t *testing.T) {
	p := payload{size: 10}
	for _, c := range []struct{ ask, room int }{{4, 4}, {4, 4}, {4, 2}, {100, 10}, {1, 1}} {
		if got := p.room(c.ask); got != c.room {
			t.Errorf("at %d there is room for %d, want %d", p.offset, got, c.room)
		}
		p.advance(c.room)
	}
	if p.offset != 1 {
		t.Errorf("at %d, want 1", p.offset)
	}
}

// TestPayloadShrinksBeforeItBegins cuts a file off while it is read the first
// time.
func TestPayloadShrinksBeforeItBegins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 10_000), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &payload{}
	if err := p.open(path); err != nil {
		t.Fatal(err)
	}
	defer p.close()
	if err := os.Truncate(path, 5000); err != nil {
		t.Fatal(err)
	}
	if err := p.cache(); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "shrank") {
		t.Errorf("error %v", err)
	}
}
