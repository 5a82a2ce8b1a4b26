// Package traffic is the instrument: the tests, each one engine for each of
// its two ends. Engines use sockets that Go's netpoller never sees, on locked
// threads, through package sys.
//
// Life of an engine: New, Prepare, Arm, Run, and, at a remote end, Stop from
// another thread when the local end has finished; then Close.
//
// Neither end needs the other's clock. The warm-up of each end begins with
// the first message that it sends or receives, and its window when the
// warm-up is over. One reading of the clock follows each message: where one
// round trip ends, the next begins.
//
// What an engine counts, beside messages and bytes, is in result.End.Counts:
//
//	icmp_echo, udp_rr local   sent, lost, late, stale
//	udp_rr remote             send_errors
//	udp_rr, both ends         sent_all, received_all, socket_drops_all
//	tcp_rr local              sent
//	tcp_crr local             sent, failed, connect_retries
//	tcp_crr remote            failed
//	wake                      sent
//	udp_stream local          sent, sent_all, send_errors
//	udp_stream remote         total, unique, duplicates, reordered, socket_drops,
//	                          received_all, socket_drops_all, duplicates_all,
//	                          reordered_all
//	tcp_stream local          retransmits
//
// With several flows udp_stream's remote end also has stray, the datagrams that
// came from elsewhere than from one of them; no other count has those.
//
// A worker adds cpu_user_ns and cpu_system_ns at each end of every test: see
// Usage.
//
// A stream's sender also has send_calls, the system calls of its method within
// the window, and with a method that does not copy zerocopy, the sends that the
// kernel has done with, and zerocopy_copied, those of them that it copied all
// the same. Its receiver has receive_calls, and with a method that maps what
// comes in zerocopy_received_bytes, those that came within the window, and
// zerocopy_mapped_bytes, those of them that were mapped: the others were copied.
//
// A test at a fixed rate also has slots, those of its window, and missed, the
// ones in which nothing was sent. For round trips send_late_p99_ns and
// send_late_max_ns say how late after its slot a request was sent: the round
// trip runs from the slot. The messages of their window are the requests that
// were due in it, whenever in time the answer came.
//
// The end that receives the stream beside a test has load_bytes and
// load_elapsed_ns, of what came since the stream flowed steadily until the test
// was over.
//
// sent is what the window sent. A request whose answer had not come when its
// timeout was over is late if the answer came all the same, and lost if it
// never did: sent = messages + late + lost. A late answer's round trip is
// recorded with its true length, so that the longest are not cut off at the
// timeout: the histogram has messages + late samples. It is no message of the
// window, though: the rate leaves it out. stale are answers that nothing
// waited for: duplicates, and answers to requests of the warm-up.
//
// With many flows, or many outstanding requests of a flow, there are always
// some under way: a request belongs to the window in which it is answered or
// given up, whenever it was sent.
//
// tcp_crr's messages are connections that were made, carried a request and a
// response and were seen to end; that is also what a round trip spans. failed
// are those that were refused, broke off or never came about, and
// connect_retries counts how often no local port was free, which is waited for:
// sent = messages + failed, and one more if the last had not ended when the
// trial did. failed of the remote end are connections that broke off there.
//
// At udp_stream's remote end total, unique, duplicates and reordered are of the
// datagrams of the sender's window, however late they came in, so that loss is
// 1 - unique/sent, the tail included. total counts arrivals whatever their
// number: it is unique + duplicates. Datagrams shorter than three bytes have
// too short a number for more than total. messages, bytes and socket_drops
// (what did not fit into the socket's buffer) are of the receiver's own window.
//
// sent_all, received_all, socket_drops_all, duplicates_all and reordered_all are
// of the whole trial, from before the warm-up until the drain is over, as the
// link's own counters are: result.Trial.Balances says where every datagram went.
// At udp_rr's local end received_all has late and stale answers too; it ends when
// all requests are answered or nothing has come for the length of a timeout, so
// that no answer is under way any more.
package traffic

import (
	"fmt"
	"net/netip"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Names of counts in result.End.Counts.
const (
	CountSent           = "sent"
	CountSentAll        = result.CountSentAll
	CountLost           = "lost"
	CountLate           = "late"
	CountStale          = "stale"
	CountSendErrors     = "send_errors"
	CountUnique         = "unique"
	CountDuplicates     = "duplicates"
	CountReordered      = "reordered"
	CountDuplicatesAll  = result.CountDuplicatesAll
	CountReorderedAll   = result.CountReorderedAll
	CountTotal          = "total"
	CountSocketDrops    = "socket_drops"
	CountReceivedAll    = result.CountReceivedAll
	CountSocketDropsAll = result.CountSocketDropsAll
	CountRetransmits    = "retransmits"
	CountSendCalls      = "send_calls"
	CountReceiveCalls   = "receive_calls"
	CountZeroCopy       = result.CountZeroCopy
	CountZeroCopied     = result.CountZeroCopied
	CountSendLateP99    = "send_late_p99_ns"
	CountSendLateMax    = "send_late_max_ns"
	CountMapReceived    = "zerocopy_received_bytes"
	CountMapped         = "zerocopy_mapped_bytes"
	CountFailed         = "failed"
	CountConnectRetries = "connect_retries"
)

// Codes of the warnings that engines give.
const (
	// WarnSndBuf and WarnRcvBuf: the kernel gave another buffer than asked.
	WarnSndBuf = "sndbuf"
	WarnRcvBuf = "rcvbuf"
	// WarnNoTraffic: nothing at all came from the peer.
	WarnNoTraffic = "no-traffic"
	// WarnUnfinished: a round trip was under way when the trial ended.
	WarnUnfinished = "unfinished"
	// WarnLateAnswers: answers came after their timeout.
	WarnLateAnswers = "late-answers"
	// WarnFailed: connections of tcp_crr failed.
	WarnFailed = "failed-connections"
	// WarnPorts: there was no free local port for connections.
	WarnPorts = "local-ports"
	// WarnShortWindow: the traffic ended before this end's window did.
	WarnShortWindow = "short-window"
	// WarnSenderLate: requests of an open loop were sent after they were due.
	WarnSenderLate = "sender-late"
	// WarnOutstanding: slots were missed since too many requests were
	// unanswered.
	WarnOutstanding = "outstanding"
)

// Config is all that one end of one trial needs to know.
type Config struct {
	Role   string        `json:"role"` // result.Local or result.Remote
	Test   spec.Test     `json:"test"`
	Warmup time.Duration `json:"warmup_ns"`
	Window time.Duration `json:"window_ns"`
	// Interval is the length of the parts of the window of which figures are
	// taken; 0, or one that is not shorter than the window, for none.
	Interval time.Duration `json:"interval_ns,omitempty"`
	// Each is how many round trips of the window the local end keeps one by one, the
	// first ones, of tests that can (spec.Test.KeepsEach); 0 for none.
	Each int `json:"each,omitempty"`
	// Live has the worker tell of each interval as soon as it is over.
	Live bool `json:"live,omitempty"`
	// CPU is the one that the traffic thread is bound to; -1 for none.
	CPU int `json:"cpu"`
	// CPUs are those of further traffic threads, in order: thread 0 has CPU,
	// thread 1 the first of these and so on, and after the last one it begins
	// again with CPU. With none, all threads have CPU.
	CPUs []int `json:"cpus,omitempty"`
	// Device is the interface that the sockets are bound to
	// (SO_BINDTODEVICE); empty for none.
	Device string `json:"device,omitempty"`
	// Addr is the address to bind to: this end's on the path under test.
	Addr netip.Addr `json:"addr"`
	// Port is the port to bind to; 0 lets the kernel choose.
	Port uint16 `json:"port,omitempty"`
	// PortMin and PortMax are the range from which the port is chosen rather
	// than by the kernel, both 0 for none. The end that starts a TCP
	// connection does not take part: firewalls know such by the other port.
	PortMin uint16 `json:"port_min,omitempty"`
	PortMax uint16 `json:"port_max,omitempty"`
	// Peer is the far end's address on the path. An agent needs it where Addr
	// is the unspecified address, to fill in this end's own on the way there;
	// engines do not use it.
	Peer netip.Addr `json:"peer,omitzero"`
	// Counters are the sources that the worker reads around the window; nil
	// for those that are read by default, and "none" alone for none.
	Counters []string `json:"counters,omitempty"`
	// Soak has the worker let a loop of idle priority run on each of the CPUs
	// that figures of CPU time are of.
	Soak bool `json:"soak,omitempty"`
	// Baseline is for how long the worker looks at the CPUs before anything
	// flows; 0 for not at all.
	Baseline time.Duration `json:"baseline_ns,omitempty"`
	// OneMachine says that the other end is on this machine, too. Figures of
	// CPU time are then of CPUScope alone, those CPUs that are this end's; where
	// that is empty, the local end's are of both.
	OneMachine bool  `json:"one_machine,omitempty"`
	CPUScope   []int `json:"cpu_scope,omitempty"`
	// Usage, if it is set, learns what CPU time the process takes within the
	// window.
	Usage *Usage `json:"-"`

	valve *valve // of a stream that flows beside a test; nil for none
	share *share // of the engine's threads; nil for none

	// source is the file that all methods of this end send from; nil where each
	// has what it sends for itself.
	source source
}

// maxBaseline is the longest that a worker looks at CPUs that do nothing.
const maxBaseline = time.Minute

// maxDevice is the longest name of an interface: IFNAMSIZ of linux/if.h with
// its last byte.
const maxDevice = 15

// ThreadCPU is the CPU of the ith traffic thread, from 0; -1 for none.
func (c *Config) ThreadCPU(i int) int {
	if i %= 1 + len(c.CPUs); i > 0 {
		return c.CPUs[i-1]
	}
	return c.CPU
}

// source is what methods that send a file send from.
type source interface {
	// warnings are what of the file is not as one would think.
	warnings() []result.Warning
	close() error
}

// Engine is one end of one test.
type Engine interface {
	// Prepare makes and binds the sockets and tells their port, 0 where the
	// test has none.
	Prepare() (port uint16, err error)
	// Arm connects the sockets to the peer. A remote end's does not wait for
	// the local end.
	Arm(peer netip.AddrPort) error
	// Run carries traffic on the calling, locked thread: at a local end until
	// the window is over, at a remote one until Stop and what was under way
	// has come in.
	Run() (result.End, error)
	// Stop tells a remote end's Run that the sender has finished. At a local
	// end it does nothing.
	Stop()
	// Intervals are those of the window, nil if there are none. They can be
	// asked for from Prepare on, by any thread.
	Intervals() *Intervals
	// Close gives up the sockets. Run must have returned.
	Close() error
}

// check reports the first thing that is wrong with the configuration, which
// may have come from another host, and fills in the test's defaults.
func (c *Config) check() error {
	if c.Role != result.Local && c.Role != result.Remote {
		return fmt.Errorf("role %q is neither %s nor %s", c.Role, result.Local, result.Remote)
	}
	test, err := spec.NewTest(c.Test.Name, c.Test.Params)
	if err != nil {
		return err
	}
	c.Test = test
	if c.Warmup < 0 || c.Warmup > spec.MaxWindow {
		return fmt.Errorf("warm-up %v is out of range: 0 to %v", c.Warmup, spec.MaxWindow)
	}
	if c.Window <= 0 || c.Window > spec.MaxWindow {
		return fmt.Errorf("window %v is out of range: above 0, up to %v", c.Window, spec.MaxWindow)
	}
	if c.Interval < 0 || c.Interval > 0 && c.Window/c.Interval > spec.MaxIntervals {
		return fmt.Errorf("interval %v is out of range: 0 (none), or at most %d in the window of %v", c.Interval, spec.MaxIntervals, c.Window)
	}
	if c.Each < 0 || c.Each > spec.MaxEach {
		return fmt.Errorf("each %d is out of range: 0 (none) to %d round trips", c.Each, spec.MaxEach)
	}
	if c.Each > 0 && !c.Test.KeepsEach() {
		return fmt.Errorf("test %s has no round trips that can be kept one by one: those of one flow without burst can", c.Test)
	}
	for _, cpu := range append([]int{c.CPU}, c.CPUs...) {
		if cpu < -1 {
			return fmt.Errorf("CPU %d is out of range: 0 and up, or -1 for none", cpu)
		}
	}
	if c.Baseline < 0 || c.Baseline > maxBaseline {
		return fmt.Errorf("baseline %v is out of range: 0 (none) to %v", c.Baseline, maxBaseline)
	}
	if len(c.Device) > maxDevice {
		return fmt.Errorf("device %q is no interface's name: those have at most %d bytes", c.Device, maxDevice)
	}
	if !c.Addr.IsValid() {
		return fmt.Errorf("no address to bind to")
	}
	c.Addr = c.Addr.Unmap()
	return nil
}
