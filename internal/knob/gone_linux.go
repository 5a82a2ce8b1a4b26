package knob

import "errors"

// errGone is what an error wraps where what was set is no longer there, such as
// an interface: then there is nothing to restore.
var errGone = errors.New("it is gone")
