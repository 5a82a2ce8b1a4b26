package feature

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
	"netdelta/internal/sys/nft"
)

// trySocketGroup has a datagram to a socket of this process counted as one of its
// control group.
func trySocketGroup() *Error {
	e := &Error{Tried: "count a packet by its socket's control group with nf_tables in a network namespace of its own"}
	if e.Err = NetNS.Err(); e.Err != nil {
		e.Need = "network namespaces"
		return e
	}
	own, err := sys.OwnGroup()
	if err != nil {
		e.Err, e.Need, e.Advice = err, "control groups of version 2", "mount them: mount -t cgroup2 none /sys/fs/cgroup/unified"
		return e
	}
	var got nft.Counts
	e.Err = inNewNetNS(func(ns *sys.NetNS) error {
		table, err := nft.Count(ns, "lo", own)
		if err != nil {
			return err
		}
		err = sendToSelf()
		if err == nil {
			got, err = table.Read()
		}
		return errors.Join(err, table.Close())
	})
	switch {
	case e.Err == nil && got.All == 1 && got.Group == 1:
		return nil
	case e.Err == nil:
		e.Err = fmt.Errorf("of %d packets, %d were of control group %s", got.All, got.Group, own.Dir)
		e.Need = "Linux 6.11 or later where this is in a control group namespace (a container), else a kernel that tells a socket's group"
	case errors.Is(e.Err, os.ErrPermission):
		e.Need, e.Advice = "CAP_NET_ADMIN and CAP_SYS_ADMIN", asRoot
	default:
		e.Need = "Linux 5.13 or later with CONFIG_NF_TABLES, CONFIG_NF_TABLES_INET, CONFIG_NFT_SOCKET and CONFIG_SOCK_CGROUP_DATA"
		e.Advice = "load them: modprobe nf_tables; modprobe nft_socket"
	}
	return e
}

// sendToSelf has one datagram arrive on loopback of the calling thread's network
// namespace, in which that is down.
func sendToSelf() error {
	nl, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("open a route netlink socket: %w", err)
	}
	defer unix.Close(nl)
	if err := newLink(nl, upRequest("lo")); err != nil {
		return fmt.Errorf("set loopback up (RTM_NEWLINK): %w", err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return os.NewSyscallError("bind", err)
	}
	own, err := unix.Getsockname(fd)
	if err != nil {
		return os.NewSyscallError("getsockname", err)
	}
	if err := unix.Sendto(fd, []byte{0}, 0, own); err != nil {
		return os.NewSyscallError("sendto", err)
	}
	// What went to loopback has arrived when it can be read.
	wait := unix.Timeval{Sec: 1}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	_, _, err = unix.Recvfrom(fd, make([]byte, 1), 0)
	return os.NewSyscallError("recvfrom", err)
}
