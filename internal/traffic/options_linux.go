package traffic

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

// bufferFactor is how many times the size that was asked for the kernel says a
// socket's buffer has: it doubles the figure for its own book-keeping
// (socket(7)).
const bufferFactor = 2

// sndBufLimit and rcvBufLimit name the settings that limit such a size.
const (
	sndBufLimit = "net.core.wmem_max"
	rcvBufLimit = "net.core.rmem_max"
)

// socketOption is an option that a test asks for, as the kernel takes it.
type socketOption struct {
	name         string
	level, which int
	value        []byte
	shown        string // the value, for errors
	need         string // what a refusal may be for want of
	denied       string // the same for EPERM, where that is something else
}

// socketOptions are those that the test asks of a socket beside its buffers.
func socketOptions(cfg Config) []socketOption {
	p := cfg.Test.Params
	var all []socketOption
	number := func(name string, set bool, level, which, value int, need string) {
		if set {
			all = append(all, socketOption{name, level, which, intOption(value), fmt.Sprint(value), need, ""})
		}
	}
	text := func(name string, level, which int, value, need, denied string) {
		if value != "" {
			all = append(all, socketOption{name, level, which, []byte(value), value, need, denied})
		}
	}
	number("SO_MARK", p.Mark != 0, unix.SOL_SOCKET, unix.SO_MARK, p.Mark, "CAP_NET_ADMIN or, since Linux 5.17, CAP_NET_RAW")
	if p.BusyPoll != 0 {
		all = append(all, socketOption{"SO_BUSY_POLL", unix.SOL_SOCKET, unix.SO_BUSY_POLL, intOption(p.BusyPoll), fmt.Sprint(p.BusyPoll),
			"a kernel with CONFIG_NET_RX_BUSY_POLL", "CAP_NET_ADMIN to go over net.core.busy_read"})
	}
	number("IP_TOS", p.DSCP != 0 && cfg.Addr.Is4(), unix.IPPROTO_IP, unix.IP_TOS, p.DSCP<<2, "")
	number("IPV6_TCLASS", p.DSCP != 0 && !cfg.Addr.Is4(), unix.IPPROTO_IPV6, unix.IPV6_TCLASS, p.DSCP<<2, "")
	number("TCP_MAXSEG", p.MSS != 0, unix.IPPROTO_TCP, unix.TCP_MAXSEG, p.MSS, "")
	if p.Pacing != 0 {
		// In bytes. TCP paces by itself; a datagram socket is only paced where
		// the interface's queue is fq.
		all = append(all, socketOption{"SO_MAX_PACING_RATE", unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE,
			binary.NativeEndian.AppendUint64(nil, uint64(p.Pacing)/8), fmt.Sprintf("%d bit/s", p.Pacing), "Linux 4.20 for rates above 34 Gbit/s", ""})
	}
	text("TCP_CONGESTION", unix.IPPROTO_TCP, unix.TCP_CONGESTION, p.Congestion,
		"one of net.ipv4.tcp_available_congestion_control", "one of net.ipv4.tcp_allowed_congestion_control, or CAP_NET_ADMIN")
	text("SO_BINDTODEVICE", unix.SOL_SOCKET, unix.SO_BINDTODEVICE, cfg.Device,
		"an interface of that name on this host; CAP_NET_RAW before Linux 5.7", "")
	return all
}

// intOption is the value of an option that is an int.
func intOption(n int) []byte { return binary.NativeEndian.AppendUint32(nil, uint32(n)) }

// setOptions sets what the test asks of a socket beside its buffers. A TCP
// connection inherits all of it from the listener that it comes from but for
// those that setConnOptions sets.
func (s *socket) setOptions(cfg Config) error {
	for _, o := range socketOptions(cfg) {
		errno := s.SetOption(o.level, o.which, o.value)
		if errno == 0 {
			continue
		}
		return s.refusedOption(o.name, o.shown, o.needs(errno), errno)
	}
	return nil
}

// needs is what the kernel's refusal is for want of.
func (o *socketOption) needs(errno unix.Errno) string {
	if errno == unix.EPERM && o.denied != "" {
		return o.denied
	}
	return o.need
}

// setInherited has nothing to set: a connection takes over from its listener
// what setConnOptions does not set.
func (s *socket) setInherited(Config) error { return nil }
