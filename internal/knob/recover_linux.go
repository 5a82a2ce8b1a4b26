package knob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// Pending lists what the journal has, and changes nothing. An empty dir stands
// for the default one. A file that cannot be read is an entry with Err.
func Pending(dir string) ([]Entry, error) {
	j, err := existing(dir)
	if j == nil {
		return nil, err
	}
	defer j.close()
	stems, err := j.stems()
	if err != nil {
		return nil, err
	}
	var all []Entry
	for _, stem := range stems {
		r, ok, err := j.read(stem)
		if !ok {
			continue
		}
		e := r.Entry
		e.Err = err
		held, err := j.isLocked(stem)
		e.Held, e.Err = held, errors.Join(e.Err, err)
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return a.Since.Compare(b.Since) })
	return all, nil
}

// existing opens the journal if there is one.
func existing(dir string) (*journal, error) {
	if dir == "" {
		var err error
		if dir, err = DefaultJournal(); err != nil {
			return nil, err
		}
	}
	j, err := openJournal(dir, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return j, err
}

// left is an entry that nobody alive holds, with its lock, which is now ours.
type left struct {
	record
	lock *lock
}

// Recover puts back what dead processes have left, the last change first, and
// returns what it found with what became of it. Settings that live processes
// hold are left alone. What fails has Err and stays, as do files that cannot be
// read. An empty dir stands for the default one.
func Recover(ctx context.Context, dir string) ([]Entry, error) {
	j, err := existing(dir)
	if j == nil {
		return nil, err
	}
	defer j.close()
	stems, err := j.stems()
	if err != nil {
		return nil, err
	}
	var all []Entry
	var dead []left
	var refused error
	for _, stem := range stems {
		l, err := j.lock(ctx, stem)
		r, ok, damage := j.read(stem)
		e := r.Entry
		switch {
		case errors.Is(err, errLocked):
			// Without a record its holder has just begun, or just ended.
			if e.Held, e.Err = true, damage; ok {
				all = append(all, e)
			}
		case err != nil:
			if e.Err = errors.Join(damage, err); ok {
				all = append(all, e)
			}
		case !ok:
			refused = errors.Join(refused, l.release())
		case damage != nil:
			e.Err = errors.Join(damage, l.release())
			all = append(all, e)
		default:
			dead = append(dead, left{r, l})
		}
	}
	slices.SortStableFunc(dead, func(a, b left) int { return b.Since.Compare(a.Since) })
	for _, d := range dead {
		e := d.Entry
		e.Done, e.Err = d.finish(ctx)
		all = append(all, e)
	}
	return all, refused
}

// undo restores what one record tells of, if it is still there and nobody alive
// has it.
func (j *journal) undo(ctx context.Context, stem string) error {
	l, err := j.lock(ctx, stem)
	if errors.Is(err, errLocked) {
		return nil // who took it has restored it first
	}
	if err != nil {
		return err
	}
	r, ok, err := j.read(stem)
	if !ok || err != nil {
		return errors.Join(err, l.release())
	}
	_, err = left{r, l}.finish(ctx)
	return err
}

// finish restores what a dead process left, and takes it out of the journal.
func (d left) finish(ctx context.Context) (done string, err error) {
	if err = ctx.Err(); err == nil {
		done, err = d.undo(ctx)
	}
	if err == nil {
		err = d.lock.j.remove(d.lock.stem)
	}
	return done, errors.Join(err, d.lock.release())
}

// undo restores what the record tells of, where that still is.
func (r record) undo(ctx context.Context) (done string, err error) {
	boot, err := bootID()
	if err != nil {
		return "", err
	}
	row, _, err := r.Setting.Row()
	if err != nil {
		return "", err
	}
	if r.Boot != boot && row.Scope != spec.OnCommand {
		return "the system has booted since, which ended it", nil
	}
	ns, err := r.findNS(boot)
	if errors.Is(err, errGone) {
		switch {
		case row.Scope == spec.OnCommand:
			return r.undoNowhere(ctx)
		case !strings.HasPrefix(r.ID, hostPrefix):
			return "its network namespace has gone with its last process, and the setting with it", nil
		}
		err = nil
	}
	if err != nil {
		return "", err
	}
	if ns != nil {
		defer ns.Close()
	}
	done, err = r.undoIn(ctx, ns)
	if errors.Is(err, errGone) {
		return fmt.Sprintf("interface %s has gone, and the setting with it", r.Device), nil
	}
	return done, err
}

func (r record) undoIn(ctx context.Context, ns *sys.NetNS) (done string, err error) {
	p := Place{NS: ns, Device: r.Device, End: r.End, Peer: r.Peer, Level: r.Setting.Value, turn: r.Turn}
	if r.Ifindex != 0 {
		if p.Device, err = p.nameOf(r.Ifindex); err != nil {
			return "", err
		}
	}
	ctl, err := open(p, r.Setting)
	if err != nil {
		return "", err
	}
	c, err := restoreTo(ctx, ctl, r.Setting, r.Was, true)
	switch {
	case err != nil:
		return "", err
	case r.Setting.Command != nil && r.Setting.Command.Restore == "":
		return "it has no restore command: nothing was undone", nil
	case r.Setting.Command != nil:
		return fmt.Sprintf("its restore command was run: %s", r.Setting.Command.Restore), nil
	case c == nil:
		return fmt.Sprintf("it is %s as it was: nothing to restore", r.Was), nil
	}
	return fmt.Sprintf("restored from %s to %s", c.Was, r.Was), nil
}

// undoNowhere runs a command's restore in a network namespace of its own, since
// that in which it was applied has gone: what the command did to the machine is
// undone, and what it would do to a namespace it does to nobody's.
func (r record) undoNowhere(ctx context.Context) (done string, err error) {
	const gone = "its network namespace has gone"
	if r.Setting.Command == nil || r.Setting.Command.Restore == "" {
		return gone + ", and it has no restore command", nil
	}
	empty, err := sys.NewNetNS()
	if err != nil {
		return "", fmt.Errorf("%s, and no empty one could be made to run its restore command in: %w", gone, err)
	}
	defer empty.Close()
	done, err = r.undoIn(ctx, empty)
	if status := (*statusError)(nil); errors.As(err, &status) {
		return fmt.Sprintf("%s: run in an empty one, its restore command said: %v", gone, status), nil
	}
	return gone + ": in an empty one " + done, err
}

// take locks a setting for a Holder. What a dead process has left of it is
// restored before.
func (j *journal) take(ctx context.Context, id string) (*lock, error) {
	stem := stemOf(id)
	l, err := j.lock(ctx, stem)
	if errors.Is(err, errLocked) {
		r, ok, damage := j.read(stem)
		if !ok || damage != nil {
			return nil, fmt.Errorf("%w: another process that has just begun", ErrHeld)
		}
		return nil, fmt.Errorf("%w: %s (process %d, since %s): wait for it, or end it", ErrHeld, r.Who, r.PID, r.Since.Format("2006-01-02 15:04:05"))
	}
	if err != nil {
		return nil, err
	}
	r, ok, err := j.read(stem)
	if ok && err == nil {
		if _, err = r.undo(ctx); err != nil {
			err = fmt.Errorf("%s (process %d) left it changed, and it could not be restored: %w", r.Who, r.PID, err)
		} else {
			err = j.remove(stem)
		}
	}
	if err != nil {
		return nil, errors.Join(err, l.release())
	}
	return l, nil
}
