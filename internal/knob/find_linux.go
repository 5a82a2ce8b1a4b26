package knob

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"netdelta/internal/sys"
)

// bootID names the present boot (random(4)).
func bootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	id := strings.TrimSpace(string(text))
	if err == nil && id == "" {
		err = errors.New("it is empty")
	}
	if err != nil {
		return "", fmt.Errorf("identify the boot: %w", err)
	}
	return id, nil
}

// startOf is when a process started, in clock ticks since the boot
// (proc_pid_stat(5)).
func startOf(pid int) (uint64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// Behind the command, which may hold anything, the state is field 3.
	f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const start = 22 - 3
	if len(f) <= start {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields behind the command, %d are needed", pid, len(f), start+1)
	}
	return strconv.ParseUint(f[start], 10, 64)
}

// findNS opens the record's network namespace, by whatever holds it: a process, a
// mount, or a descriptor. It is nil for this process's own, and errGone where
// nothing holds it.
func (r record) findNS(boot string) (*sys.NetNS, error) {
	own, err := (*sys.NetNS)(nil).ID()
	if err != nil {
		return nil, err
	}
	if r.Boot != boot {
		// Only commands come here. What was a host's own namespace is so again.
		if r.Own {
			return nil, nil
		}
		return nil, errGone
	}
	if r.NS == own {
		return nil, nil
	}
	var refused error
	for _, list := range []func(uint64) ([]string, error){processesIn, mountsOf, descriptorsOf} {
		paths, err := list(r.NS.Inode)
		refused = errors.Join(refused, err)
		for _, path := range paths {
			ns, err := sys.OpenNetNS(path)
			if err != nil {
				continue // it ended meanwhile
			}
			id, err := ns.ID()
			if err == nil && id == r.NS {
				return ns, nil
			}
			if err != nil {
				refused = err
			}
			ns.Close()
		}
	}
	// Root may look at all that could hold it; what was in a user namespace had no
	// other holders than its own processes.
	if refused != nil && !r.InUserNS && (os.Geteuid() != 0 || mapped()) {
		return nil, fmt.Errorf("look for the network namespace of %s: %w: run as root, outside of user namespaces", r.ID, refused)
	}
	return nil, errGone
}

func nameOfNS(inode uint64) string { return fmt.Sprintf("net:[%d]", inode) }

// processesIn lists the namespace files of processes that are in it.
func processesIn(inode uint64) ([]string, error) { return linksTo("/proc/[0-9]*/ns/net", inode) }

// descriptorsOf lists the descriptors that processes have of it.
func descriptorsOf(inode uint64) ([]string, error) { return linksTo("/proc/[0-9]*/fd/*", inode) }

// linksTo lists the links of a pattern that lead to the namespace, and tells if
// it was not allowed to look at one.
func linksTo(pattern string, inode uint64) (found []string, refused error) {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		target, err := os.Readlink(path)
		if errors.Is(err, fs.ErrPermission) {
			refused = err
		}
		if err == nil && target == nameOfNS(inode) {
			found = append(found, path)
		}
	}
	return found, refused
}

// mountsOf lists where the namespace is mounted, as "ip netns add" and container
// runtimes do.
func mountsOf(inode uint64) ([]string, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var found []string
	for line := range strings.Lines(string(text)) {
		// Field 4 is the root within the file system, 5 the place (proc_pid_mountinfo(5)).
		if f := strings.Fields(line); len(f) > 4 && f[3] == nameOfNS(inode) {
			found = append(found, unescape(f[4]))
		}
	}
	slices.Sort(found)
	return found, nil
}

// unescape undoes the octal escapes of blanks in mountinfo.
func unescape(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}
