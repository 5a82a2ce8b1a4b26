package sys

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// OpenNetNS opens the network namespace that a file stands for: one of
// /proc/PID/ns/net, or what "ip netns add" mounts below /run/netns.
func OpenNetNS(path string) (*NetNS, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open a network namespace: %w", err)
	}
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &fs); err != nil || fs.Type != unix.NSFS_MAGIC {
		f.Close()
		return nil, fmt.Errorf("open a network namespace: %s is none", path)
	}
	return &NetNS{f}, nil
}

// NetNSID tells a network namespace from all others of this boot.
type NetNSID struct {
	// Inode is what readlink of /proc/PID/ns/net shows. Another namespace may get
	// it when this one has gone.
	Inode uint64 `json:"inode"`
	// Cookie is no other namespace's in this boot (SO_NETNS_COOKIE, Linux 5.14);
	// 0 where the kernel has none.
	Cookie uint64 `json:"cookie,omitempty"`
}

// ID identifies the namespace; nil stands for the calling thread's, and needs no
// privilege.
func (n *NetNS) ID() (id NetNSID, err error) {
	var st unix.Stat_t
	if n == nil {
		if err := unix.Stat(threadNetNS(), &st); err != nil {
			return NetNSID{}, fmt.Errorf("identify the current network namespace: %w", err)
		}
		id.Cookie, err = threadCookie()
	} else {
		if err := unix.Fstat(n.Fd(), &st); err != nil {
			return NetNSID{}, fmt.Errorf("identify a network namespace: %w", err)
		}
		err = n.Do(func() error {
			id.Cookie, err = threadCookie()
			return err
		})
	}
	id.Inode = st.Ino
	return id, err
}

// threadCookie is the cookie of the calling thread's namespace, 0 where the
// kernel has none.
func threadCookie() (uint64, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("identify a network namespace: %w", err)
	}
	defer unix.Close(fd)
	cookie, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_NETNS_COOKIE)
	if err != nil {
		return 0, nil
	}
	return cookie, nil
}
