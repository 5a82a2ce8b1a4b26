package sys_test

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest"
	"netdelta/internal/sys"
)

func TestControlPair(t *testing.T) {
	labtest.NoLeaks(t)
	for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_SEQPACKET} {
		ours, theirs, err := sys.ControlPair(kind)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := unix.GetsockoptInt(int(theirs.Fd()), unix.SOL_SOCKET, unix.SO_TYPE); err != nil || got != kind {
			t.Errorf("a socket of kind %d, %v; want %d", got, err, kind)
		}
		if _, err := theirs.WriteString("ready"); err != nil {
			t.Error(err)
		}
		buf := make([]byte, 16)
		if n, err := ours.Read(buf); err != nil || string(buf[:n]) != "ready" {
			t.Errorf("read %q, %v", buf[:n], err)
		}
		if err := ours.SetReadDeadline(time.Now()); err != nil {
			t.Errorf("ours takes no deadline: %v", err)
		}
		if _, err := ours.Read(buf); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("nothing was sent: %v", err)
		}
		if err := theirs.SetReadDeadline(time.Now()); !errors.Is(err, os.ErrNoDeadline) {
			t.Errorf("a deadline for theirs: %v: it must block, out of the netpoller", err)
		}
		for _, f := range []*os.File{ours, theirs} {
			if flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
				t.Errorf("an end has descriptor flags %#x, %v: children would inherit it", flags, err)
			}
		}
		ours.Close()
		if _, err := theirs.Read(buf); err != io.EOF {
			t.Errorf("after the other end's close: %v, want EOF", err)
		}
		theirs.Close()
	}
	if _, _, err := sys.ControlPair(-1); err == nil {
		t.Error("a socket of no kind")
	}
}
