package feature

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// tryICMP takes a datagram socket, which ping_group_range governs, or a raw
// one, which needs CAP_NET_RAW. A lab allows datagram ones in its namespaces
// whatever the answer here.
func tryICMP() *Error {
	var errs [2]error
	for i, kind := range []int{unix.SOCK_DGRAM, unix.SOCK_RAW} {
		fd, err := unix.Socket(unix.AF_INET, kind|unix.SOCK_CLOEXEC, unix.IPPROTO_ICMP)
		if err == nil {
			unix.Close(fd)
			return nil
		}
		errs[i] = err
	}
	return &Error{
		Tried: "open an ICMP socket, datagram and raw",
		Need: fmt.Sprintf("a group in net.ipv4.ping_group_range (it is %q), or CAP_NET_RAW",
			strings.Join(strings.Fields(readSysctl("net.ipv4.ping_group_range")), " ")),
		Advice: "run as root, or sysctl -w net.ipv4.ping_group_range='0 2147483647'",
		Err:    fmt.Errorf("%w, %w", errs[0], errs[1]),
	}
}

// tryMemoryLock asks mlockall(2)'s own question rather than lock this
// process's memory: CAP_IPC_LOCK over the whole machine, or a limit that the
// address space fits into.
func tryMemoryLock() *Error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil {
		return &Error{Tried: "read RLIMIT_MEMLOCK", Need: "getrlimit(2)", Err: err}
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return &Error{Tried: "read this process's size", Need: "/proc", Err: err}
	}
	size := virtualSize(string(status))
	idMap, _ := os.ReadFile("/proc/self/uid_map")
	capable, err := sys.HasCapability(unix.CAP_IPC_LOCK)
	// In a user namespace the capability is there but does not count.
	if (err == nil && capable && mapsEveryone(string(idMap))) || size <= limit.Cur {
		return nil
	}
	return &Error{
		Tried:  fmt.Sprintf("fit the %d MiB of this process's address space into RLIMIT_MEMLOCK of %d KiB", size>>20, limit.Cur>>10),
		Need:   "CAP_IPC_LOCK outside of any user namespace, or RLIMIT_MEMLOCK unlimited",
		Advice: "run as root, or raise the limit: ulimit -l unlimited",
		Err:    err,
	}
}

// virtualSize is VmSize of /proc/self/status in bytes; the largest value if
// it is not there.
func virtualSize(status string) uint64 {
	for line := range strings.Lines(status) {
		rest, ok := strings.CutPrefix(line, "VmSize:")
		if !ok {
			continue
		}
		if f := strings.Fields(rest); len(f) == 2 && f[1] == "kB" {
			if kib, err := strconv.ParseUint(f[0], 10, 53); err == nil {
				return kib << 10
			}
		}
	}
	return ^uint64(0)
}

// mapsEveryone reports whether a uid_map is the initial user namespace's: all
// ids to themselves (user_namespaces(7)).
func mapsEveryone(uidMap string) bool {
	f := strings.Fields(uidMap)
	return len(f) == 3 && f[0] == "0" && f[1] == "0" && f[2] == "4294967295"
}
