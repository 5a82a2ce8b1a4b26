package knob

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// shareTime is how long the one end may take to make a setting that the other
// end waits for.
const shareTime = 5 * time.Second

// share has two ends that one process serves on one machine, as in a lab, have
// one setting of the machine: the end that came first holds it, and the other
// finds it made. They must ask for one value. Whatever else is held is held's
// error.
func (h *Holder) share(ctx context.Context, r Request, t target, held error) error {
	if !strings.HasPrefix(t.id, hostPrefix) || t.setting.Command != nil {
		return held
	}
	ctx, cancel := context.WithTimeout(ctx, shareTime)
	defer cancel()
	var rec record
	err := waitFor(ctx, func(context.Context) (found bool, err error) {
		rec, found, err = h.j.read(stemOf(t.id))
		return found, err
	})
	started, unknown := startOf(os.Getpid())
	if err != nil || unknown != nil || rec.PID != os.Getpid() || rec.Started != started || rec.End == r.End {
		return held
	}
	if asked(rec.Setting) != asked(t.setting) {
		return fmt.Errorf("%w: both ends are on one machine, which has it once: ask for one value at both ends", held)
	}
	now := ""
	err = waitFor(ctx, func(ctx context.Context) (made bool, err error) {
		now, err = t.ctl.Read(ctx)
		return t.ctl.Equal(now, asked(t.setting)), err
	})
	if err != nil {
		return errors.Join(held, fmt.Errorf("it reads %s: %w", now, err))
	}
	return nil
}
