package traffic

import (
	"errors"
	"io/fs"

	"netdelta/internal/feature"
)

// refusal is an error of something that a test asks for and that this host, its
// kernel, device or file does not give: it is feature.ErrUnavailable too, so
// that other tests go on without this one.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// Is makes every refusal feature.ErrUnavailable.
func (refusal) Is(target error) bool { return target == feature.ErrUnavailable }

// refused makes an error a refusal. A privilege that is missing is told as such.
func refused(err error) error {
	if err == nil || errors.Is(err, fs.ErrPermission) || errors.Is(err, feature.ErrUnavailable) {
		return err
	}
	return refusal{err}
}
