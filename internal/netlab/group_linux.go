package netlab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/sys"
)

// group is a control group of our own. Its directory is locked for as long as it is
// in use, so that whoever comes later can tell it from one that was left by a process
// that was killed, whatever has become of that one's number.
type group struct {
	sys.Group
	dir *os.File
}

// groupNames are the names that groups have, with the number of the process that made
// them and the host; one process with several labs numbers them on.
var groupNames = regexp.MustCompile(`^netdelta-[0-9]+-[ab](\.[0-9]+)?$`)

// maxGroups is how many groups of a host a process may have at once.
const maxGroups = 100

// newGroup makes a control group for a host's workers, below the process's own one
// or, where that can't have one, below the nearest that can. No controller is
// switched on in it.
func newGroup(host string) (*group, error) {
	own, err := sys.OwnGroup()
	if err != nil {
		return nil, groupError("find this process's", err)
	}
	var nearest error
	for at, ok := own, true; ok; at, ok = at.Parent() {
		g, err := groupBelow(at, host)
		if err == nil {
			return g, nil
		}
		if nearest == nil {
			nearest = err
		}
	}
	return nil, groupError(fmt.Sprintf("make a control group below %s and start a process in it", own.Dir), nearest)
}

func groupError(tried string, err error) error {
	e := &feature.Error{
		Feature: "control group of the lab's own", Tried: tried, Kernel: feature.Kernel().String(), Err: err,
		Need: "Linux 5.7 or later and control groups of version 2 that allow it",
	}
	switch {
	case errors.Is(err, sys.ErrNoGroups):
		e.Need, e.Advice = "control groups of version 2", "mount them: mount -t cgroup2 none /sys/fs/cgroup/unified"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, unix.EROFS):
		e.Need = "leave to write to the group's directory and to its file cgroup.procs"
		e.Advice = "run as root, or in a group of one's own: systemd-run --user --scope -p Delegate=yes netdelta ..."
	}
	return e
}

// groupBelow makes a group below another one, and sees that processes can be started
// in it.
func groupBelow(at sys.Group, host string) (*group, error) {
	for i := 1; i <= maxGroups; i++ {
		name := fmt.Sprintf("netdelta-%d-%s", os.Getpid(), host)
		if i > 1 {
			name = fmt.Sprintf("%s.%d", name, i)
		}
		g := &group{Group: at.Below(name)}
		err := os.Mkdir(g.Dir, 0o755)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		locked, err := g.lock()
		if err == nil && !locked {
			continue // taken for one that was left behind, before it was locked
		}
		if err == nil {
			err = sys.TryStartIn(g.dir)
		}
		if err != nil {
			return nil, errors.Join(err, g.close())
		}
		return g, nil
	}
	return nil, fmt.Errorf("%s: %d control groups of process %d are there", at.Dir, maxGroups, os.Getpid())
}

// lock opens the group's directory and locks it, ok false if another process has
// it or it is gone.
func (g *group) lock() (ok bool, err error) {
	dir, err := os.Open(g.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		dir.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return false, nil
		}
		return false, &fs.PathError{Op: "lock", Path: g.Dir, Err: err}
	}
	mine, err := dir.Stat()
	now, gone := os.Lstat(g.Dir)
	if err != nil || gone != nil || !os.SameFile(mine, now) {
		return false, errors.Join(err, dir.Close())
	}
	g.dir = dir
	return true, nil
}

// emptyTime is how long a group may take to be without processes when those have
// ended and been waited for; a test shortens it. It is at once; this is for a machine
// that is stuck.
var emptyTime = 2 * time.Second

// close removes the group, in which no process must be left.
func (g *group) close() error {
	var err error
	for end := time.Now().Add(emptyTime); ; time.Sleep(time.Millisecond) {
		// Not os.Remove, which would tell of the try to unlink it as a file.
		err = unix.Rmdir(g.Dir)
		if !errors.Is(err, unix.EBUSY) || time.Now().After(end) {
			break
		}
	}
	if errors.Is(err, unix.ENOENT) {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("remove control group %s (see its cgroup.procs for who is in it): %w", g.Dir, err)
	}
	if g.dir != nil {
		err = errors.Join(err, g.dir.Close())
	}
	return err
}

// sweepAll removes groups that processes left behind which were killed, wherever this
// process would make one. It does what it can: one that has a process yet is for the
// next time.
func sweepAll() {
	own, err := sys.OwnGroup()
	if err != nil {
		return // and there are none
	}
	for at, ok := own, true; ok; at, ok = at.Parent() {
		sweep(at)
	}
}

// sweep does that in one place.
func sweep(at sys.Group) {
	entries, err := os.ReadDir(at.Dir)
	if err != nil {
		return // which making one will tell
	}
	for _, e := range entries {
		if !groupNames.MatchString(e.Name()) {
			continue
		}
		g := &group{Group: sys.Group{Dir: filepath.Join(at.Dir, e.Name())}}
		if ok, err := g.lock(); err != nil || !ok {
			continue
		}
		unix.Rmdir(g.Dir)
		g.dir.Close()
	}
}
