package spec

import (
	"slices"
)

// Pattern is the shape of a test's traffic.
type Pattern int

const (
	// Echo is a request that the far kernel answers: no worker at the far end.
	Echo Pattern = iota
	// RoundTrip is request and response.
	RoundTrip
	// Stream is one way, from local to remote.
	Stream
	// Reverse is one way, from remote to local, over a connection that the
	// local end makes.
	Reverse
	// Duplex is a stream each way at the same time, each over a connection of
	// its own.
	Duplex
	// Connect is a connection for each request and response.
	Connect
	// Wake is two threads of the local end that wake each other in turns: no
	// network at all.
	Wake
)

// Protocol is what carries a test; empty for none.
type Protocol string

const (
	ICMP Protocol = "icmp"
	UDP  Protocol = "udp"
	TCP  Protocol = "tcp"
)

// Limits of message sizes in bytes. A UDP payload and an ICMP echo payload
// both leave 65535 - 20 (IPv4 header) - 8 (UDP or ICMP header).
const (
	MaxDatagram = 65507
	MaxMessage  = 1 << 30
	MaxSockBuf  = 1 << 30
	IPOverhead  = 28 // IPv4 and UDP or ICMP headers
)

// Kind describes one test: a row of the table of tests.
type Kind struct {
	Name     string
	Pattern  Pattern
	Protocol Protocol
	Default  Params
	MaxSize  int      // bytes, largest message
	Accepts  []string // names of the parameters that this test takes
	About    string
}

// Names of parameters that go together.
var (
	sizes    = []string{"size", "request", "response"}
	buffers  = []string{"sndbuf", "rcvbuf"}
	parallel = []string{"flows", "threads"}
	limits   = []string{"count", "bytes"}
	open     = []string{"rate", "catchup"} // open loop
	methods  = []string{"send", "recv", "wait", "file", "filesize"}
	ipOpts   = []string{"dscp", "mark", "busypoll", "fifo"}
	watched  = []string{"explain"}
	tcpOpts  = []string{"nodelay", "congestion", "mss"}
)

// kinds is the table of tests. A new test is a row here and an engine in
// package traffic.
var kinds = []Kind{
	{"icmp_echo", Echo, ICMP, Params{Size: 56}, MaxDatagram,
		slices.Concat([]string{"size"}, buffers, limits, open, ipOpts, watched),
		"ICMP echo, next request when the reply is in"},
	{"udp_rr", RoundTrip, UDP, Params{Size: 1}, MaxDatagram,
		slices.Concat(sizes, buffers, parallel, []string{"burst"}, limits, open, []string{"load"}, ipOpts, watched),
		"UDP request and response"},
	{"tcp_rr", RoundTrip, TCP, Params{Size: 1}, MaxMessage,
		slices.Concat(sizes, buffers, parallel, []string{"burst"}, limits, open, []string{"load"}, ipOpts, tcpOpts, watched),
		"TCP request and response on one connection, TCP_NODELAY"},
	{"tcp_crr", Connect, TCP, Params{Size: 1}, MaxMessage,
		slices.Concat(sizes, buffers, parallel, limits, ipOpts, tcpOpts),
		"TCP connect, request, response, close"},
	{"udp_stream", Stream, UDP, Params{Size: 1024}, MaxDatagram,
		slices.Concat([]string{"size"}, buffers, parallel, limits, open, []string{"pacing"}, []string{"send", "recv", "wait"}, ipOpts),
		"UDP datagrams one way, counted at the receiver"},
	{"tcp_stream", Stream, TCP, Params{Size: 128 << 10}, MaxMessage,
		slices.Concat([]string{"size"}, buffers, parallel, limits, open, []string{"pacing"}, methods, ipOpts, tcpOpts),
		"TCP bytes one way, counted at the receiver"},
	{"tcp_maerts", Reverse, TCP, Params{Size: 128 << 10}, MaxMessage,
		slices.Concat([]string{"size"}, buffers, parallel, limits, open, []string{"pacing"}, methods, ipOpts, tcpOpts),
		"TCP bytes from remote to local, counted at the receiver"},
	{"tcp_bidir", Duplex, TCP, Params{Size: 128 << 10}, MaxMessage,
		slices.Concat([]string{"size"}, buffers, limits, []string{"pacing"}, methods, ipOpts, tcpOpts),
		"TCP bytes both ways at the same time, on two connections"},
	{"wake", Wake, "", Params{By: "futex"}, 0,
		[]string{"by", "at", "busy", "count", "fifo"},
		"two threads that wake each other in turns, no network"},
}

// usual are the tests that run unless others are asked for.
var usual = []string{"icmp_echo", "udp_rr", "tcp_rr", "udp_stream", "tcp_stream"}

// Kinds returns the table of tests, in the order in which reports show them.
func Kinds() []Kind { return slices.Clone(kinds) }

// TestNames returns the names of all tests.
func TestNames() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Name
	}
	return names
}

// UsualTests returns the names of the tests that run unless others are asked
// for.
func UsualTests() []string { return slices.Clone(usual) }

// KindOf returns the row of the test with that name.
func KindOf(name string) (Kind, bool) {
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return kinds[i], true
}

// HasRemote says whether a worker takes part at the far end: an echo is
// answered by the kernel there, and a wake-up needs no far end.
func (k Kind) HasRemote() bool { return k.Pattern != Echo && k.Pattern != Wake }

// Sends says whether the local end sends a stream, and Receives whether it
// receives one.
func (k Kind) Sends() bool { return k.Pattern == Stream || k.Pattern == Duplex }

// Receives is explained with Sends.
func (k Kind) Receives() bool { return k.Pattern == Reverse || k.Pattern == Duplex }

// IsStream says whether the test's figure is bytes rather than round trips.
func (k Kind) IsStream() bool { return k.Sends() || k.Receives() }
