package traffic

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// TestOneFileForAllThreads: an end that sends a file has it after Prepare, and
// its threads make none of their own.
func TestOneFileForAllThreads(t *testing.T) {
	for test, role := range map[string]string{"tcp_stream": result.Local, "tcp_maerts": result.Remote} {
		for _, method := range fileMethods {
			t.Run(test+"/"+method, func(t *testing.T) {
				const threads = 3
				tr := trial{test: test, params: spec.Params{Send: method, FileSize: 1 << 20, Flows: threads, Threads: threads}, addr: loopbacks["ipv4"]}
				tr.window = testWindow
				e, _ := tr.engine(t, role)
				made, err := openFilesOf(1 << 20)
				if err != nil || made != 1 {
					t.Fatalf("%d files after Prepare, %v", made, err)
				}
				var all []half
				if l, ok := e.(*tcpLocal); ok {
					all = l.halves
				} else {
					all = e.(*tcpRemote).halves
				}
				for _, h := range all {
					if err := h.ready(); err != nil {
						t.Fatal(err)
					}
				}
				if made, err = openFilesOf(1 << 20); err != nil || made != 1 {
					t.Errorf("%d files for %d threads, %v", made, threads, err)
				}
				if err := e.Close(); err != nil {
					t.Error(err)
				}
				if made, err = openFilesOf(1 << 20); err != nil || made != 0 {
					t.Errorf("%d files after Close, %v", made, err)
				}
			})
		}
	}
}

// openFilesOf is how many files without a name and of a size this process has.
func openFilesOf(size int64) (n int, err error) {
	all, err := filepath.Glob("/proc/self/fd/*")
	for _, path := range all {
		var s unix.Stat_t
		if unix.Stat(path, &s) == nil && s.Mode&unix.S_IFMT == unix.S_IFREG && s.Nlink == 0 && s.Size == size {
			n++
		}
	}
	return n, err
}

// fakeHalf notes what is done with it.
type fakeHalf struct {
	half
	begin, run_ func() error
	closed      *atomic.Int32
}

func (h *fakeHalf) ready() error       { return h.begin() }
func (h *fakeHalf) run() error         { return h.run_() }
func (h *fakeHalf) close() error       { h.closed.Add(1); return nil }
func (h *fakeHalf) result() result.End { return result.End{Role: result.Local} }

// TestNoHalfRunsBeforeAllAreReady, and none at all if one is refused.
func TestNoHalfRunsBeforeAllAreReady(t *testing.T) {
	const n = 4
	fault := errors.New("refused")
	for _, want := range []error{nil, fault} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			cfg := Config{Role: result.Local, Test: spec.Test{Name: "tcp_stream", Params: spec.Params{Flows: n, Threads: n}}, CPU: -1}
			var ready, closed, ran atomic.Int32
			began := make(chan struct{})
			all := make([]half, n)
			for i := range all {
				all[i] = &fakeHalf{closed: &closed,
					begin: func() error {
						if i == n-1 {
							<-began // the others are ready, and would run
							ready.Add(1)
							return want
						}
						if ready.Add(1) == n-1 {
							close(began)
						}
						return nil
					},
					run_: func() error {
						ran.Add(1)
						if r := ready.Load(); r != n {
							return fmt.Errorf("%d of %d are ready", r, n)
						}
						return nil
					}}
			}
			done := make(chan error, 1)
			go func() {
				_, err := runHalves(&cfg, &team{}, all)
				done <- err
			}()
			err := <-done
			if !errors.Is(err, want) || (err == nil) != (want == nil) {
				t.Errorf("error %v, want %v", err, want)
			}
			if r, c := ran.Load(), closed.Load(); want != nil && (r != 0 || c != n) || want == nil && r != n {
				t.Errorf("%d ran, %d were closed", r, c)
			}
		})
	}
}

// TestRemoteEndTellsARefusalAtOnce: what the remote end can't do is an error of
// Prepare.
func TestRemoteEndTellsARefusalAtOnce(t *testing.T) {
	i := slices.IndexFunc(recvMethods, func(m recvMethod) bool { return m.name == "trunc" })
	row := recvMethods[i]
	t.Cleanup(func() { recvMethods[i] = row })
	recvMethods[i].stream = func(*socket, Config) (streamReceiver, error) {
		return nil, unavailable("trunc", "test it", "another kernel", unix.EINVAL)
	}
	for _, test := range []spec.Test{
		{Name: "tcp_stream", Params: spec.Params{Recv: "trunc"}},
		{Name: "tcp_bidir", Params: spec.Params{Recv: "trunc"}},
		{Name: "tcp_maerts", Params: spec.Params{Send: "sendfile", File: "/nowhere"}},
	} {
		e, err := New(Config{Role: result.Remote, Test: test, Window: testWindow, CPU: -1, Addr: loopbacks["ipv4"]})
		if err != nil {
			t.Fatal(err)
		}
		before := len(descriptors(t))
		if _, err := e.Prepare(); !errors.Is(err, feature.ErrUnavailable) {
			t.Errorf("%v: %v", test, err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if after := len(descriptors(t)); after != before {
			t.Errorf("%v: %d descriptors, %d before", test, after, before)
		}
	}
}

// TestMapNoticesWhatAPageHides: a file that has lost a part of its last page,
// which write(2) would not tell.
func TestMapNoticesWhatAPageHides(t *testing.T) {
	const size = 1<<20 - 100
	for _, finishes := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "file")
		if err := writeZeros(path, size); err != nil {
			t.Fatal(err)
		}
		cfg, from, to := streamPair(t, loopbacks["ipv4"], spec.Params{Send: "mmap+write", File: path})
		m := newSender(t, cfg, from)
		if err := m.finish(0); err != nil {
			t.Errorf("a file that is whole: %v", err)
		}
		if err := unix.Truncate(path, size-100); err != nil {
			t.Fatal(err)
		}
		err := error(nil)
		if finishes {
			err = m.finish(0)
		} else {
			err = sendUntilRefused(m, from, to, 3*mapWindow)
		}
		if err == nil || !strings.Contains(err.Error(), path+" shrank") || !strings.Contains(err.Error(), fmt.Sprint(size-100)) {
			t.Errorf("at the end %v: error %v", finishes, err)
		}
	}
}

func writeZeros(path string, size int64) error {
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(unix.Ftruncate(fd, size), unix.Close(fd))
}

// sendUntilRefused sends so many bytes at most, all of which are received.
func sendUntilRefused(m streamSender, from, to *socket, most int) error {
	buffer := make([]byte, 1<<20)
	for sent := 0; sent < most; {
		n, errno := m.send(1 << 20)
		if errno != 0 && errno != unix.EAGAIN {
			return from.failed("send on", errno)
		}
		sent += n
		for {
			if _, errno := to.Recv(buffer, unix.MSG_DONTWAIT); errno != 0 {
				break
			}
		}
	}
	return nil
}
