package nft

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// rule is a list of expressions (linux/netfilter/nf_tables.h), each of which goes on
// to the next or ends the rule.
type rule []expression

type expression struct {
	name string
	data []attr
}

// Of the socket expression, which package unix does not have.
const (
	socketKey      = 1 // NFTA_SOCKET_KEY
	socketDreg     = 2 // NFTA_SOCKET_DREG
	socketLevel    = 3 // NFTA_SOCKET_LEVEL
	socketCgroupV2 = 3 // NFT_SOCKET_CGROUPV2
)

var counter = expression{name: "counter"}

// arrived is "iifname DEVICE meta l4proto PROTOCOL jump CHAIN".
func arrived(device string, protocol byte, chain string) rule {
	name := make([]byte, unix.IFNAMSIZ)
	copy(name, device)
	code := int32(unix.NFT_JUMP)
	jump := nest(unix.NFTA_DATA_VERDICT, number(unix.NFTA_VERDICT_CODE, uint32(code)), text(unix.NFTA_VERDICT_CHAIN, chain))
	return rule{
		meta(unix.NFT_META_IIFNAME), equal(name),
		meta(unix.NFT_META_L4PROTO), equal([]byte{protocol}),
		{"immediate", []attr{number(unix.NFTA_IMMEDIATE_DREG, unix.NFT_REG_VERDICT), nest(unix.NFTA_IMMEDIATE_DATA, jump)}},
	}
}

// matching is "socket cgroupv2 level LEVEL ID counter". A socket is known by the
// group at that level on the way from the root down to its own, so those of groups
// below count as well.
func matching(level int, id uint64) rule {
	return rule{
		{"socket", []attr{number(socketKey, socketCgroupV2), number(socketDreg, unix.NFT_REG_1), number(socketLevel, uint32(level))}},
		equal(binary.NativeEndian.AppendUint64(nil, id)),
		counter,
	}
}

// meta reads a packet's key into the first register.
func meta(key uint32) expression {
	return expression{"meta", []attr{number(unix.NFTA_META_DREG, unix.NFT_REG_1), number(unix.NFTA_META_KEY, key)}}
}

// equal ends the rule unless the first register is the value.
func equal(value []byte) expression {
	return expression{"cmp", []attr{
		number(unix.NFTA_CMP_SREG, unix.NFT_REG_1), number(unix.NFTA_CMP_OP, unix.NFT_CMP_EQ),
		nest(unix.NFTA_CMP_DATA, attr{unix.NFTA_DATA_VALUE, value}),
	}}
}

// encoded is the rule as an attribute of its message.
func (r rule) encoded() attr {
	var all []attr
	for _, e := range r {
		a := []attr{text(unix.NFTA_EXPR_NAME, e.name)}
		if e.data != nil {
			a = append(a, nest(unix.NFTA_EXPR_DATA, e.data...))
		}
		all = append(all, nest(unix.NFTA_LIST_ELEM, a...))
	}
	return nest(unix.NFTA_RULE_EXPRESSIONS, all...)
}

// ruleIn is the rule in the attributes of the kernel's answer.
func ruleIn(attrs []attr) (rule, error) {
	elements, err := decode(find(attrs, unix.NFTA_RULE_EXPRESSIONS))
	if err != nil {
		return nil, err
	}
	var r rule
	for _, one := range elements {
		parts, err := decode(one.value)
		if err != nil {
			return nil, err
		}
		name := find(parts, unix.NFTA_EXPR_NAME)
		if len(name) == 0 {
			return nil, errShort
		}
		e := expression{name: string(name[:len(name)-1])}
		if e.data, err = decode(find(parts, unix.NFTA_EXPR_DATA)); err != nil {
			return nil, err
		}
		r = append(r, e)
	}
	return r, nil
}

// is says that the rule is as was asked for.
func (r rule) is(asked rule) bool {
	if len(r) != len(asked) {
		return false
	}
	for i, e := range r {
		if e.name != asked[i].name || !holds(e.data, asked[i].data) {
			return false
		}
	}
	return true
}

// packets is what the rule's counter has counted, ok false where it has none.
func (r rule) packets() (n int64, ok bool) {
	for _, e := range r {
		if v := find(e.data, unix.NFTA_COUNTER_PACKETS); e.name == counter.name && len(v) == 8 {
			return int64(binary.BigEndian.Uint64(v)), true
		}
	}
	return 0, false
}
