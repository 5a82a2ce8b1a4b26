package tuntap

import (
	"errors"
	"io/fs"
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
	if err := attachError("x", unix.EPERM); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("attachError = %v", err)
	}
}
