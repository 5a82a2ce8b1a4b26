package sys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Group is a control group of version 2 (cgroups(7)).
type Group struct {
	// Dir is its directory, below Mount.
	Dir, Mount string
	// Level is how many groups it is below the root that this process sees, 0 for
	// that itself.
	Level int
}

// ErrNoGroups is that control groups of version 2 are not mounted, or not where
// this process's own could be seen.
var ErrNoGroups = errors.New("no control groups of version 2")

// OwnGroup is the control group of this process, wherever the hierarchy is mounted:
// /sys/fs/cgroup, or /sys/fs/cgroup/unified beside version 1. Its error wraps
// ErrNoGroups where it is not.
func OwnGroup() (Group, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return Group{}, fmt.Errorf("find control groups: %w", err)
	}
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %w", ErrNoGroups, err)
		}
		return Group{}, fmt.Errorf("find control groups: %w", err)
	}
	own, ok := ownPath(string(groups))
	if !ok {
		return Group{}, fmt.Errorf("%w: /proc/self/cgroup names none that this process is in", ErrNoGroups)
	}
	for _, m := range groupMounts(string(mounts)) {
		g, ok := m.find(own)
		if !ok {
			continue
		}
		// Another mount may hide this one.
		var st unix.Statfs_t
		if err := unix.Statfs(g.Dir, &st); err == nil && st.Type == unix.CGROUP2_SUPER_MAGIC {
			return g, nil
		}
	}
	return Group{}, fmt.Errorf("%w: /proc/self/mountinfo has no mount of type cgroup2 with group %s in it", ErrNoGroups, own)
}

// Parent is the group above, ok false for the highest that the mount shows.
func (g Group) Parent() (up Group, ok bool) {
	if g.Dir == g.Mount || g.Level == 0 {
		return g, false
	}
	return Group{Dir: path.Dir(g.Dir), Mount: g.Mount, Level: g.Level - 1}, true
}

// Below is a group of that name in this one, which need not be there.
func (g Group) Below(name string) Group {
	return Group{Dir: path.Join(g.Dir, name), Mount: g.Mount, Level: g.Level + 1}
}

// ID is the number by which the kernel knows the group: that of its directory's
// inode (cgroup_id in include/linux/cgroup.h).
func (g Group) ID() (uint64, error) {
	var st unix.Stat_t
	if err := unix.Stat(g.Dir, &st); err != nil {
		return 0, fmt.Errorf("number of control group %s: %w", g.Dir, err)
	}
	return st.Ino, nil
}

// StartIn has the command start in a control group, whose directory this is
// (clone3(2), CLONE_INTO_CGROUP, Linux 5.7): nothing of it ever runs in another
// one. A nil directory leaves it in the caller's.
func StartIn(cmd *exec.Cmd, group *os.File) error {
	if group == nil {
		return nil
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(group.Fd())
	return nil
}

// TryStartIn reports whether a process can be started in the group. None is run: as
// in TryUserNS, exec's ENOTDIR shows that all before it worked.
func TryStartIn(group *os.File) error {
	attr := &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(group.Fd())}
	pid, err := syscall.ForkExec("/dev/null/none", []string{"none"}, &syscall.ProcAttr{Sys: attr})
	switch {
	case errors.Is(err, unix.ENOTDIR):
		return nil
	case err == nil: // cannot be
		syscall.Wait4(pid, nil, 0, nil)
		return errors.New("a path below /dev/null was executed")
	}
	return fmt.Errorf("start a process in control group %s (clone3 CLONE_INTO_CGROUP): %w", group.Name(), err)
}

// groupMount is a mount of the hierarchy: which group of it is seen where.
type groupMount struct{ root, point string }

// groupMounts are those in a /proc/PID/mountinfo (proc_pid_mountinfo(5)).
func groupMounts(mountinfo string) []groupMount {
	var all []groupMount
	for line := range strings.Lines(mountinfo) {
		// Fields of which there may be some stand before the lone hyphen.
		before, after, ok := strings.Cut(line, " - ")
		head, tail := strings.Fields(before), strings.Fields(after)
		if ok && len(head) >= 5 && len(tail) > 0 && tail[0] == "cgroup2" {
			all = append(all, groupMount{unescaped(head[3]), unescaped(head[4])})
		}
	}
	return all
}

// unescaped undoes what mountinfo does to blanks, tabs, line breaks and
// backslashes.
func unescaped(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// ownPath is the process's group of version 2 in a /proc/PID/cgroup, as its own
// cgroup namespace has it.
func ownPath(cgroup string) (own string, ok bool) {
	for line := range strings.Lines(cgroup) {
		if own, ok = strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::/"); ok {
			return path.Clean("/" + own), !strings.HasPrefix(own, "..") && !strings.HasSuffix(own, " (deleted)")
		}
	}
	return "", false
}

// find is a group as the mount shows it, ok false where it doesn't.
func (m groupMount) find(own string) (g Group, ok bool) {
	rest, ok := strings.CutPrefix(own, strings.TrimSuffix(m.root, "/"))
	if !ok || rest != "" && rest[0] != '/' {
		return Group{}, false
	}
	level := 0
	if own != "/" {
		level = strings.Count(own, "/")
	}
	return Group{Dir: path.Join(m.point, rest), Mount: m.point, Level: level}, true
}
