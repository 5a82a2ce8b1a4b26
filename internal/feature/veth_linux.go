package feature

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
	"netdelta/internal/sys/tuntap"
)

func tryVeth() *Error {
	err := inNewNetNS(func(*sys.NetNS) error { return addVeth("probe0", "probe1") })
	if err == nil {
		return nil
	}
	e := &Error{
		Tried:  "make a veth pair in a network namespace of its own",
		Need:   "CAP_NET_ADMIN and CAP_SYS_ADMIN",
		Advice: asRoot,
		Err:    err,
	}
	if errors.Is(err, unix.EOPNOTSUPP) {
		e.Need, e.Advice = "the veth driver, CONFIG_VETH", "load it: modprobe veth"
	}
	return e
}

// tryThreadedNAPI sets `threaded` on a device with NAPI: a TAP, or a veth
// where TAPs are out of reach.
func tryThreadedNAPI() *Error {
	var tried string
	err := inNewNetNS(func(ns *sys.NetNS) error {
		if TAPNAPI.Err() == nil {
			tried = "a TAP with IFF_NAPI"
			f, _, err := tuntap.Open("probe0", tuntap.Options{NAPI: true})
			if err != nil {
				return err
			}
			defer f.Close()
		} else {
			tried = "a veth with GRO"
			if err := addVeth("probe0", "probe1"); err != nil {
				return err
			}
			if err := sys.SetGRO("probe0", true); err != nil {
				return err
			}
		}
		sysfs, err := ns.OpenSysfs()
		if err != nil {
			return err
		}
		return errors.Join(sysfs.Set("class/net/probe0/threaded", "1"), sysfs.Close())
	})
	if err == nil {
		return nil
	}
	if tried == "" {
		tried = "any device"
	}
	e := &Error{
		Tried: "have NAPI polls of " + tried + " run in a kernel thread (sysfs threaded)",
		Need:  "Linux 5.12 or later",
		Err:   err,
	}
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		e.Need = "CAP_SYS_ADMIN, and in a user namespace a /sys with nothing mounted over parts of it"
		e.Advice = asRoot + "; if this is a container, outside of it"
	}
	return e
}

// addVeth makes a veth pair in the thread's namespace and sets its first end
// up, in the kernel's own terms (rtnetlink(7)): this room is below the one
// that has a library for it.
func addVeth(name, peer string) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("open a route netlink socket: %w", err)
	}
	defer unix.Close(fd)
	if err := newLink(fd, vethRequest(name, peer)); err != nil {
		return fmt.Errorf("make a veth pair (RTM_NEWLINK): %w", err)
	}
	if err := newLink(fd, upRequest(name)); err != nil {
		return fmt.Errorf("set a veth up (RTM_NEWLINK): %w", err)
	}
	return nil
}

func newLink(fd int, request []byte) error {
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, 8192)
	n, _, err := unix.Recvfrom(fd, answer, 0)
	if err != nil {
		return err
	}
	return netlinkAck(answer[:n])
}

// vethInfoPeer is VETH_INFO_PEER of linux/veth.h.
const vethInfoPeer = 1

func vethRequest(name, peer string) []byte {
	peerInfo := append(ifInfo(0), attribute(unix.IFLA_IFNAME, cString(peer))...)
	linkInfo := append(attribute(unix.IFLA_INFO_KIND, cString("veth")),
		attribute(unix.IFLA_INFO_DATA, attribute(vethInfoPeer, peerInfo))...)
	return request(unix.NLM_F_CREATE|unix.NLM_F_EXCL, ifInfo(0),
		attribute(unix.IFLA_IFNAME, cString(name)), attribute(unix.IFLA_LINKINFO, linkInfo))
}

func upRequest(name string) []byte {
	return request(0, ifInfo(unix.IFF_UP), attribute(unix.IFLA_IFNAME, cString(name)))
}

// request is an RTM_NEWLINK message that asks for an acknowledgement.
func request(flags uint16, parts ...[]byte) []byte {
	body := slices.Concat(parts...)
	e := binary.NativeEndian
	msg := e.AppendUint32(nil, uint32(unix.SizeofNlMsghdr+len(body)))
	msg = e.AppendUint16(msg, unix.RTM_NEWLINK)
	msg = e.AppendUint16(msg, unix.NLM_F_REQUEST|unix.NLM_F_ACK|flags)
	msg = e.AppendUint32(msg, 1) // sequence
	msg = e.AppendUint32(msg, 0) // to the kernel
	return append(msg, body...)
}

// ifInfo is a struct ifinfomsg that sets the IFF_ flags.
func ifInfo(set uint32) []byte {
	e := binary.NativeEndian
	b := make([]byte, 8, unix.SizeofIfInfomsg) // family, type and index: any
	b = e.AppendUint32(b, set)
	return e.AppendUint32(b, set) // those that change
}

// attribute is a struct rtattr with its value, padded to 4 bytes.
func attribute(kind uint16, value []byte) []byte {
	e := binary.NativeEndian
	b := e.AppendUint16(nil, uint16(unix.SizeofRtAttr+len(value)))
	b = append(e.AppendUint16(b, kind), value...)
	for len(b)%unix.RTA_ALIGNTO != 0 {
		b = append(b, 0)
	}
	return b
}

func cString(s string) []byte { return append([]byte(s), 0) }

// netlinkAck is the error in an NLMSG_ERROR answer, nil for its 0.
func netlinkAck(answer []byte) error {
	e := binary.NativeEndian
	if len(answer) < unix.SizeofNlMsghdr+4 || e.Uint16(answer[4:]) != unix.NLMSG_ERROR {
		return errors.New("the kernel's answer is no acknowledgement")
	}
	if code := int32(e.Uint32(answer[unix.SizeofNlMsghdr:])); code != 0 {
		return unix.Errno(-code)
	}
	return nil
}
