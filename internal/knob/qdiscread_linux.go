package knob

import (
	"errors"
	"fmt"
	"slices"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// Attributes of linux/rtnetlink.h.
const (
	tcaKind    = 1
	tcaOptions = 2
	tcaStab    = 8
)

// qdiscMessage is one qdisc that the kernel has told of.
type qdiscMessage struct {
	kind           string
	handle, parent uint32
	options        []byte
	sized          bool // it has a table of sizes
}

// readRoot reads the root of the interface with that number in the thread's
// network namespace.
func readRoot(index int) (qdisc, error) {
	all, err := readQdiscs(index)
	if err != nil {
		return qdisc{}, err
	}
	i := slices.IndexFunc(all, func(m qdiscMessage) bool { return m.parent == netlink.HANDLE_ROOT })
	if i < 0 {
		// The kernel does not tell of the one that an interface has which is down.
		return qdisc{kind: "noop"}, nil
	}
	m := all[i]
	q := qdisc{kind: m.kind, handle: m.handle, raw: m.options}
	var below []qdiscMessage
	for _, o := range all {
		if o.parent != netlink.HANDLE_ROOT && o.parent != netlink.HANDLE_INGRESS && o.parent>>16 == m.handle>>16 {
			below = append(below, o)
			q.below = append(q.below, o.kind)
		}
	}
	slices.Sort(q.below)
	q.below = slices.Compact(q.below)
	if k, err := qdiscKindOf(m.kind); err == nil {
		if q.numbers, err = k.numbersOf(m.options); err != nil {
			return qdisc{}, err
		}
	}
	filtered, err := hasFilters(index, m.handle)
	if err != nil {
		return qdisc{}, err
	}
	q.lasting = lastingOf(q, below, m.sized, filtered)
	if m.handle == 0 && len(below) == 0 && !filtered {
		q.lasting = ""
	}
	return q, nil
}

func readQdiscs(index int) ([]qdiscMessage, error) {
	messages, err := dump(unix.RTM_GETQDISC, unix.RTM_NEWQDISC, &nl.TcMsg{Family: nl.FAMILY_ALL, Ifindex: int32(index)})
	if err != nil {
		return nil, err
	}
	var all []qdiscMessage
	for _, raw := range messages {
		if len(raw) < nl.SizeofTcMsg {
			return nil, fmt.Errorf("a message about a qdisc has %d bytes", len(raw))
		}
		msg := nl.DeserializeTcMsg(raw)
		if int(msg.Ifindex) != index {
			continue
		}
		attrs, err := attributesOf(raw[nl.SizeofTcMsg:])
		if err != nil {
			return nil, err
		}
		m := qdiscMessage{handle: msg.Handle, parent: msg.Parent}
		for _, a := range attrs {
			switch a.kind {
			case tcaKind:
				m.kind = nl.BytesToString(a.value)
			case tcaOptions:
				m.options = slices.Clone(a.value)
			case tcaStab:
				m.sized = true
			}
		}
		all = append(all, m)
	}
	return all, nil
}

// hasFilters says whether packets are classified at a qdisc.
func hasFilters(index int, handle uint32) (bool, error) {
	if handle == 0 {
		return false, nil
	}
	messages, err := dump(unix.RTM_GETTFILTER, unix.RTM_NEWTFILTER, &nl.TcMsg{Family: nl.FAMILY_ALL, Ifindex: int32(index), Parent: handle})
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EOPNOTSUPP) {
		return false, nil // it takes none
	}
	return len(messages) > 0, err
}

// dump asks for everything of a kind, again where it changed meanwhile.
func dump(ask, answer int, msg nl.NetlinkRequestData) ([][]byte, error) {
	const tries = 5
	for try := 1; ; try++ {
		req := nl.NewNetlinkRequest(ask, unix.NLM_F_DUMP)
		req.AddData(msg)
		messages, err := req.Execute(unix.NETLINK_ROUTE, uint16(answer))
		if !errors.Is(err, netlink.ErrDumpInterrupted) || try == tries {
			return messages, err
		}
	}
}

// sendQdisc makes or removes a root in the thread's network namespace. A handle
// of 0 is one that the kernel chooses.
func sendQdisc(command, flags, index int, handle uint32, kind string, options []byte) error {
	req := nl.NewNetlinkRequest(command, flags|unix.NLM_F_ACK)
	req.AddData(&nl.TcMsg{Family: nl.FAMILY_ALL, Ifindex: int32(index), Handle: handle, Parent: netlink.HANDLE_ROOT})
	if kind != "" {
		req.AddData(nl.NewRtAttr(tcaKind, nl.ZeroTerminated(kind)))
	}
	if len(options) > 0 {
		req.AddData(nl.NewRtAttr(tcaOptions, options))
	}
	_, err := req.Execute(unix.NETLINK_ROUTE, 0)
	return err
}
