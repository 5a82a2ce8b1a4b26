package nft

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"golang.org/x/sys/unix"
)

// attr is one attribute of a netlink message (netlink(7)); those that hold others
// have them encoded as their value.
type attr struct {
	kind  uint16
	value []byte
}

// Values of nf_tables are in network byte order, other than what is compared with.
func number(kind uint16, n uint32) attr { return attr{kind, binary.BigEndian.AppendUint32(nil, n)} }
func text(kind uint16, s string) attr   { return attr{kind, append([]byte(s), 0)} }
func nest(kind uint16, in ...attr) attr { return attr{kind, encode(in)} }

// encode writes attributes, each padded to 4 bytes.
func encode(attrs []attr) []byte {
	e := binary.NativeEndian
	var b []byte
	for _, a := range attrs {
		b = e.AppendUint16(b, uint16(unix.SizeofNlAttr+len(a.value)))
		b = append(e.AppendUint16(b, a.kind), a.value...)
		for len(b)%unix.NLA_ALIGNTO != 0 {
			b = append(b, 0)
		}
	}
	return b
}

var errShort = errors.New("the kernel's answer is cut short")

// decode reads attributes. Whether one holds others is for the caller to know: the
// flag that says so is dropped, since not every kernel sets it.
func decode(b []byte) ([]attr, error) {
	e := binary.NativeEndian
	var attrs []attr
	for len(b) > 0 {
		if len(b) < unix.SizeofNlAttr {
			return nil, errShort
		}
		n := int(e.Uint16(b))
		if n < unix.SizeofNlAttr || n > len(b) {
			return nil, errShort
		}
		attrs = append(attrs, attr{e.Uint16(b[2:]) &^ (unix.NLA_F_NESTED | unix.NLA_F_NET_BYTEORDER), b[unix.SizeofNlAttr:n]})
		b = b[min(aligned(n), len(b)):]
	}
	return attrs, nil
}

func aligned(n int) int { return (n + unix.NLA_ALIGNTO - 1) &^ (unix.NLA_ALIGNTO - 1) }

// find is the value of the first attribute of a kind, nil without one.
func find(attrs []attr, kind uint16) []byte {
	for _, a := range attrs {
		if a.kind == kind {
			return a.value
		}
	}
	return nil
}

// holds says that all that was asked for is in what the kernel has; it may have more.
func holds(has, asked []attr) bool {
	return !slices.ContainsFunc(asked, func(a attr) bool { return !bytes.Equal(find(has, a.kind), a.value) })
}

// message is a netlink message of nf_tables, or of what its answers come in.
type message struct {
	kind, flags uint16
	family      uint8
	resource    uint16 // of nfgenmsg: the subsystem that a batch is for
	attrs       []attr
	what        string // that it makes, for errors
}

// sizeofGenericMessage is that of struct nfgenmsg (linux/netfilter/nfnetlink.h), which
// follows the header of netlink in every message of netfilter's.
const sizeofGenericMessage = 4

const headers = unix.SizeofNlMsghdr + sizeofGenericMessage

func (m message) encode(sequence uint32) []byte {
	e := binary.NativeEndian
	body := encode(m.attrs)
	b := e.AppendUint32(nil, uint32(headers+len(body)))
	b = e.AppendUint16(b, m.kind)
	b = e.AppendUint16(b, m.flags|unix.NLM_F_REQUEST)
	b = e.AppendUint32(b, sequence)
	b = e.AppendUint32(b, 0) // to the kernel
	b = append(b, m.family, unix.NFNETLINK_V0)
	b = binary.BigEndian.AppendUint16(b, m.resource)
	return append(b, body...)
}

// of is a message's kind within nf_tables.
func of(kind uint16) uint16 { return unix.NFNL_SUBSYS_NFTABLES<<8 | kind }

// answer is one message of the kernel's.
type answer struct {
	kind     uint16
	sequence uint32
	body     []byte
}

// answers splits what was received in one call.
func answers(b []byte) ([]answer, error) {
	e := binary.NativeEndian
	var all []answer
	for len(b) > 0 {
		if len(b) < unix.SizeofNlMsghdr {
			return nil, errShort
		}
		n := e.Uint32(b)
		if n < unix.SizeofNlMsghdr || uint64(n) > uint64(len(b)) {
			return nil, errShort
		}
		all = append(all, answer{e.Uint16(b[4:]), e.Uint32(b[8:]), b[unix.SizeofNlMsghdr:n]})
		b = b[min(aligned(int(n)), len(b)):]
	}
	return all, nil
}

// err is the error that an NLMSG_ERROR or NLMSG_DONE tells, nil for its 0.
func (a answer) err() error {
	if len(a.body) < 4 {
		return errShort
	}
	if code := int32(binary.NativeEndian.Uint32(a.body)); code != 0 {
		return unix.Errno(-code)
	}
	return nil
}
