package counters

import (
	"encoding/binary"
	"math"
)

// tcpField is a value of struct tcp_info of linux/tcp.h: where it is, its size
// of 4 or 8 bytes, and what one of it is in the unit that is told.
type tcpField struct {
	name     string
	at, size int
	unit     int64
	// flow says that it is told of single flows too.
	flow bool
	// unset is a value that stands for none; 0 for a field that always has one.
	unset uint32
}

const microsecond = 1000 // in ns, which times are told in

// tcpCounts only rise; the times do in steps of the kernel's tick (1 to 10 ms),
// and are in microseconds there. The kernel knows the first ones since long, bytes_sent
// and what follows it since 4.19, and out_of_order since 5.4.
var tcpCounts = []tcpField{
	{name: "retransmits", at: 100, size: 4, unit: 1, flow: true},
	{name: "bytes_acked", at: 120, size: 8, unit: 1, flow: true},
	{name: "bytes_received", at: 128, size: 8, unit: 1, flow: true},
	{name: "segs_out", at: 136, size: 4, unit: 1, flow: true},
	{name: "segs_in", at: 140, size: 4, unit: 1, flow: true},
	{name: "data_segs_in", at: 152, size: 4, unit: 1},
	{name: "data_segs_out", at: 156, size: 4, unit: 1},
	{name: "busy_ns", at: 168, size: 8, unit: microsecond, flow: true},
	{name: "rwnd_limited_ns", at: 176, size: 8, unit: microsecond, flow: true},
	{name: "sndbuf_limited_ns", at: 184, size: 8, unit: microsecond, flow: true},
	{name: "delivered", at: 192, size: 4, unit: 1, flow: true},
	{name: "delivered_ce", at: 196, size: 4, unit: 1},
	{name: "bytes_sent", at: 200, size: 8, unit: 1},
	{name: "bytes_retransmitted", at: 208, size: 8, unit: 1},
	{name: "dsack_dups", at: 216, size: 4, unit: 1},
	{name: "reordering_seen", at: 220, size: 4, unit: 1},
	{name: "out_of_order", at: 224, size: 4, unit: 1},
}

// noSSThresh is TCP_INFINITE_SSTHRESH of net/tcp.h: nothing was lost yet.
const noSSThresh = math.MaxInt32

// tcpLevels are what stands now. snd_wnd is the window that the peer offers (Linux 5.4).
var tcpLevels = []tcpField{
	{name: "mss", at: 16, size: 4, unit: 1, flow: true},
	{name: "pmtu", at: 60, size: 4, unit: 1},
	{name: "rtt_ns", at: 68, size: 4, unit: microsecond, flow: true},
	{name: "rttvar_ns", at: 72, size: 4, unit: microsecond, flow: true},
	{name: "ssthresh", at: 76, size: 4, unit: 1, flow: true, unset: noSSThresh},
	{name: "cwnd", at: 80, size: 4, unit: 1, flow: true},
	{name: "min_rtt_ns", at: 148, size: 4, unit: microsecond, flow: true, unset: math.MaxUint32},
	{name: "snd_wnd", at: 228, size: 4, unit: 1, flow: true},
}

// tcpInfoBytes is as much of the structure as the fields take.
const tcpInfoBytes = 232

// The state is the structure's first byte; these are of net/tcp_states.h.
const (
	tcpClose  = 7
	tcpListen = 10
)

// in says whether a kernel that fills so many bytes knows the field.
func (f *tcpField) in(filled int) bool { return f.at+f.size <= filled }

// raw is the field's value in a structure.
func (f *tcpField) raw(info []byte) uint64 {
	if f.size == 8 {
		return binary.NativeEndian.Uint64(info[f.at:])
	}
	return uint64(binary.NativeEndian.Uint32(info[f.at:]))
}

// has says that a value stands for something.
func (f *tcpField) has(raw uint64) bool { return f.unset == 0 || raw != uint64(f.unset) }
