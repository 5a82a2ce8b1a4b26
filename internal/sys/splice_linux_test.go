package sys_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// fileOf makes a file with a content.
func fileOf(t *testing.T, content []byte) (fd int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return fd
}

// streamPair makes two sockets that are connected, and block.
func streamPair(t *testing.T) (a, b sys.Sock) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fds[0]); unix.Close(fds[1]) })
	return sys.Sock(fds[0]), sys.Sock(fds[1])
}

func TestFileToSocket(t *testing.T) {
	content := []byte("0123456789")
	file := fileOf(t, content)
	r, w, holds, err := sys.Pipe(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(r)
	defer unix.Close(w)
	if holds < unix.Getpagesize() {
		t.Errorf("a pipe holds %d bytes", holds)
	}
	buf := make([]byte, 20)
	for name, send := range map[string]func(s sys.Sock, offset int64, n int) (int, unix.Errno){
		"pread": func(s sys.Sock, offset int64, n int) (int, unix.Errno) {
			got, errno := sys.ReadAt(file, buf[:n], offset)
			if errno != 0 || got == 0 {
				return got, errno
			}
			return s.Write(buf[:got])
		},
		"sendfile": func(s sys.Sock, offset int64, n int) (int, unix.Errno) { return s.SendFile(file, offset, n) },
		"splice": func(s sys.Sock, offset int64, n int) (int, unix.Errno) {
			got, errno := sys.SpliceFrom(file, offset, w, n, 0)
			if errno != 0 || got == 0 {
				return got, errno
			}
			return sys.Splice(r, int(s), got, unix.SPLICE_F_MORE)
		},
	} {
		a, b := streamPair(t)
		for _, c := range []struct {
			offset int64
			n      int
			want   string
		}{{0, 4, "0123"}, {7, 20, "789"}, {10, 5, ""}, {1 << 40, 5, ""}} {
			n, errno := send(a, c.offset, c.n)
			if n != len(c.want) || errno != 0 {
				t.Errorf("%s: sent %d bytes at %d, %v, want %d", name, n, c.offset, errno, len(c.want))
				continue
			}
			if n > 0 {
				if got, errno := b.Recv(buf, 0); errno != 0 || !bytes.Equal(buf[:got], []byte(c.want)) {
					t.Errorf("%s: %q came (%v), want %q", name, buf[:max(got, 0)], errno, c.want)
				}
			}
		}
		if n := testing.AllocsPerRun(100, func() { send(a, 0, 1); b.Recv(buf, 0) }); n != 0 {
			t.Errorf("%s: %v objects are allocated for a call", name, n)
		}
		if _, errno := send(-1, 0, 1); errno != unix.EBADF {
			t.Errorf("%s: error %v, want %v", name, errno, unix.EBADF)
		}
	}
}

func TestWritev(t *testing.T) {
	a, b := streamPair(t)
	v := sys.NewVector([][]byte{[]byte("ab"), []byte("cde"), []byte("f")})
	buf := make([]byte, 10)
	for n, want := range map[int]string{1: "a", 2: "ab", 3: "abc", 5: "abcde", 6: "abcdef", 100: "abcdef"} {
		sent, errno := a.Writev(v, n)
		if sent != len(want) || errno != 0 {
			t.Errorf("sent %d of %d bytes, %v", sent, n, errno)
			continue
		}
		if got, _ := b.Recv(buf, 0); string(buf[:max(got, 0)]) != want {
			t.Errorf("%q came, want %q", buf[:max(got, 0)], want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { a.Writev(v, 6); b.Recv(buf, 0) }); n != 0 {
		t.Errorf("%v objects are allocated for a call", n)
	}
}

// TestMap looks at a mapping, and at what becomes of it when the file shrinks:
// the kernel says EFAULT where a program would get a signal.
func TestMap(t *testing.T) {
	page := unix.Getpagesize()
	content := bytes.Repeat([]byte("0123456789abcdef"), page/8) // two pages
	file := fileOf(t, content)
	m, errno := sys.Map(file, int64(page), page, unix.MAP_POPULATE)
	if errno != 0 || !bytes.Equal(m, content[page:]) {
		t.Fatalf("the second page is %.20q (%v)", m, errno)
	}
	a, _ := streamPair(t)
	if n, errno := a.Write(m); n != page || errno != 0 {
		t.Errorf("wrote %d bytes, %v", n, errno)
	}
	if err := unix.Ftruncate(file, 1); err != nil {
		t.Fatal(err)
	}
	if _, errno := a.Write(m); errno != unix.EFAULT {
		t.Errorf("error %v, want %v", errno, unix.EFAULT)
	}
	if errno := sys.Unmap(m); errno != 0 {
		t.Error(errno)
	}
	if errno := sys.Unmap(nil); errno != 0 {
		t.Error(errno)
	}
	if _, errno := sys.Map(file, 1, page, 0); errno != unix.EINVAL {
		t.Errorf("an offset inside of a page: error %v, want %v", errno, unix.EINVAL)
	}
}
