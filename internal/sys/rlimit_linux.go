package sys

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// NeedFiles makes sure that this process may have so many descriptors more
// than it has now. It raises RLIMIT_NOFILE, beyond the hard limit where
// CAP_SYS_RESOURCE allows that (getrlimit(2)), and returns how many the process
// then needs, and as error why it can't.
func NeedFiles(more int) (need int, err error) {
	need = more + openFiles()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return need, fmt.Errorf("read the limit of descriptors (getrlimit RLIMIT_NOFILE): %w", err)
	}
	if limit.Cur >= uint64(need) {
		return need, nil
	}
	may := max(limit.Cur, limit.Max)
	limit.Cur = uint64(need)
	limit.Max = max(limit.Max, limit.Cur)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return need, fmt.Errorf("this process may have %d: ulimit -n (setrlimit RLIMIT_NOFILE: %w)", may, err)
	}
	return need, nil
}

// usualFiles is how many descriptors a process is taken to have that cannot
// read how many.
const usualFiles = 20

// openFiles is how many descriptors this process has.
func openFiles() int {
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return usualFiles
	}
	return len(all)
}
