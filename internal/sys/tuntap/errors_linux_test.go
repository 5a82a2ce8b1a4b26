package tuntap

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestErrorsWrapWhatIsMissing(t *testing.T) {
	for err, want := range map[error]error{
		unix.ENOENT: fs.ErrNotExist, unix.ENODEV: fs.ErrNotExist,
		unix.EACCES: fs.ErrPermission, unix.EPERM: fs.ErrPermission,
	} {
		if got := openError(err); !errors.Is(got, want) || !errors.Is(got, err) {
			t.Errorf("openError(%v) = %v: does not wrap %v", err, got, want)
		}
	}
	for _, o := range []Options{{}, {NAPI: true, NAPIFrags: true}} {
		err := attachError("x", o, unix.EPERM)
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "CAP_NET_ADMIN") {
			t.Errorf("attachError with %+v = %v", o, err)
		}
	}
}
