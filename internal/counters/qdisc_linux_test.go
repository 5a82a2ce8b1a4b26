package counters

import (
	"encoding/binary"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"netdelta/internal/labtest/veth"
	"netdelta/internal/netlab"
)

// index is the number of a host's interface, on a thread that is there.
func index(h *netlab.Host) (int, error) {
	d, err := netlink.LinkByName(h.Device)
	if err != nil {
		return 0, err
	}
	return d.Attrs().Index, nil
}

var root1 = netlink.MakeHandle(1, 0)

// Every datagram that a short queue drops is counted once, also where it is a
// queue below another.
func TestQdiscDrops(t *testing.T) {
	const rate, burst = 100_000, 2000 // bytes per second, bytes
	for name, add := range map[string]func(index int) error{
		"tbf": func(index int) error {
			return netlink.QdiscAdd(&netlink.Tbf{QdiscAttrs: netlink.QdiscAttrs{LinkIndex: index, Handle: root1, Parent: netlink.HANDLE_ROOT},
				Rate: rate, Limit: 4000, Buffer: netlink.Xmittime(rate, burst)})
		},
		"pfifo below htb": func(index int) error {
			htb := netlink.NewHtb(netlink.QdiscAttrs{LinkIndex: index, Handle: root1, Parent: netlink.HANDLE_ROOT})
			htb.Defcls = 10
			if err := netlink.QdiscAdd(htb); err != nil {
				return err
			}
			class := netlink.MakeHandle(1, 10)
			if err := netlink.ClassAdd(netlink.NewHtbClass(netlink.ClassAttrs{LinkIndex: index, Parent: root1, Handle: class},
				netlink.HtbClassAttrs{Rate: 8 * rate, Buffer: burst})); err != nil {
				return err
			}
			return netlink.QdiscAdd(&netlink.GenericQdisc{QdiscType: "pfifo",
				QdiscAttrs: netlink.QdiscAttrs{LinkIndex: index, Handle: netlink.MakeHandle(20, 0), Parent: class}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			lab, link := veth.Pair(t)
			on(t, lab.A, func() error {
				i, err := index(lab.A)
				if err == nil {
					err = netlink.LinkSetTxQLen(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: lab.A.Device, Index: i}}, 3) // pfifo's limit
				}
				if err == nil {
					err = add(i)
				}
				return err
			})
			s := openAt(t, lab.A, &Options{Device: lab.A.Device}, openQdisc)
			before := sampleAt(t, lab.A, s)
			const n, size = 60, 1000
			from, to := socketAt(t, lab.A, unix.SOCK_DGRAM, link.AddrA()), socketAt(t, lab.B, unix.SOCK_DGRAM, link.AddrB())
			sendMany(t, from, to, n, size)
			got, drops := 0, 0
			var r = between(t, before, before)
			eventually(t, "every datagram is found", func() bool {
				got += drained(to)
				r = between(t, before, sampleAt(t, lab.A, s))
				drops = int(r.Counts["drops"])
				return got+drops >= n
			})
			// A host may have said something else meanwhile, as of its neighbours.
			const others = 5
			if got+drops > n+others || drops < n/2 || got == 0 {
				t.Errorf("%d datagrams came and %d were dropped of %d: %v", got, drops, n, r.Counts)
			}
			if r.Counts["packets"] < int64(got) || r.Counts["bytes"] < int64(got*size) {
				t.Errorf("%d datagrams of %d bytes came: %v", got, size, r.Counts)
			}
			if _, there := r.Levels["qlen"]; !there {
				t.Errorf("levels %v", r.Levels)
			}
		})
	}
}

// An interface without a queue drops nothing there, and says so.
func TestQdiscNone(t *testing.T) {
	lab, _ := veth.Pair(t)
	s := openAt(t, lab.A, &Options{Device: lab.A.Device}, openQdisc)
	x := sampleAt(t, lab.A, s)
	if n, there := x.counts["drops"]; !there || n != 0 {
		t.Errorf("counts %v", x.counts)
	}
}

// dropLength has the interface of a host drop what comes with that length, of a
// frame's whole: a classic BPF program (tc-bpf(8)) before reception. It is run
// on a thread that is at the host.
func dropLength(h *netlab.Host, length uint32) error {
	i, err := index(h)
	if err != nil {
		return err
	}
	ingress := netlink.MakeHandle(0xffff, 0)
	if err := netlink.QdiscAdd(&netlink.Ingress{QdiscAttrs: netlink.QdiscAttrs{LinkIndex: i, Handle: ingress, Parent: netlink.HANDLE_INGRESS}}); err != nil {
		return err
	}
	var program []byte
	instruction := func(code uint16, ifNot uint8, k uint32) {
		program = binary.NativeEndian.AppendUint16(program, code)
		program = append(program, 0, ifNot)
		program = binary.NativeEndian.AppendUint32(program, k)
	}
	instruction(unix.BPF_LD|unix.BPF_W|unix.BPF_LEN, 0, 0)
	instruction(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 1, length)
	instruction(unix.BPF_RET|unix.BPF_K, 0, uint32(netlink.TC_ACT_SHOT))
	instruction(unix.BPF_RET|unix.BPF_K, 0, uint32(netlink.TC_ACT_OK))

	req := nl.NewNetlinkRequest(unix.RTM_NEWTFILTER, unix.NLM_F_CREATE|unix.NLM_F_EXCL|unix.NLM_F_ACK)
	const priority = 1
	protocol := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, unix.ETH_P_ALL))
	req.AddData(&nl.TcMsg{Ifindex: int32(i), Parent: ingress, Info: priority<<16 | uint32(protocol)})
	req.AddData(nl.NewRtAttr(tcaKind, nl.ZeroTerminated("bpf")))
	options := nl.NewRtAttr(nl.TCA_OPTIONS, nil)
	options.AddRtAttr(nl.TCA_BPF_OPS_LEN, nl.Uint16Attr(uint16(len(program)/unix.SizeofSockFilter)))
	options.AddRtAttr(nl.TCA_BPF_OPS, program)
	options.AddRtAttr(nl.TCA_BPF_FLAGS, nl.Uint32Attr(nl.TCA_BPF_FLAG_ACT_DIRECT))
	req.AddData(options)
	_, err = req.Execute(unix.NETLINK_ROUTE, 0)
	return err
}

// What a filter before reception drops is counted among the drops, and told
// apart; what it lets pass is none of what the root sends.
func TestQdiscIngress(t *testing.T) {
	lab, link := veth.Pair(t)
	const n, dropped, passed, headers = 20, 101, 102, 14 + 20 + 8
	on(t, lab.B, func() error { return dropLength(lab.B, headers+dropped) })
	s := openAt(t, lab.B, &Options{Device: lab.B.Device}, openQdisc)
	before := sampleAt(t, lab.B, s)
	from, to := socketAt(t, lab.A, unix.SOCK_DGRAM, link.AddrA()), socketAt(t, lab.B, unix.SOCK_DGRAM, link.AddrB())
	sendMany(t, from, to, n, dropped)
	sendMany(t, from, to, n, passed)
	got := 0
	eventually(t, "what passes comes", func() bool { got += drained(to); return got == n })
	r := between(t, before, sampleAt(t, lab.B, s))
	if r.Counts["ingress_drops"] != n || r.Counts["drops"] != n || r.Counts["ingress_packets"] < 2*n || r.Counts["bytes"] >= n*passed {
		t.Errorf("%d datagrams passed and %d were dropped: %v", got, n, r.Counts)
	}
}
