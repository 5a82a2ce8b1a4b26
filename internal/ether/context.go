package ether

import (
	"slices"
	"strings"

	"netdelta/internal/sys/tuntap"
)

// Context is a context in which a host's kernel handles frames that the wire
// delivers.
type Context struct {
	Name  string
	About string
	// TAP is how the interface is made. The caller adds VNetHdr for offload,
	// and tells the wire if the queue has a bound (Config.Bounded).
	TAP tuntap.Options
	// Threaded asks for the interface's NAPI poll in a kernel thread
	// (/sys/class/net/DEV/threaded), which whoever makes the interface
	// switches on.
	Threaded bool
	// Steered asks for the interface's packets to be steered to the backlog queue
	// of one CPU (sys.NetNS.MakeSteered), which whoever makes it does.
	Steered bool
	// Handoff has the wire give each frame to a second user thread.
	Handoff bool
}

// queueBytes bounds the queue of frames that wait for a NAPI poll, as a network
// card's ring does: 256 full Ethernet frames, each with the 790 bytes or so
// that the kernel adds to it. Without a bound, what a sender has ahead of the
// poll would wait in memory for as long as it takes; inline has no such queue
// at all. The wire waits when it is full, so what is too much is dropped where
// inline's is: at the near interface, whose transmit queue runs over.
//
// Measured on 2 CPUs, 8 blocks of 150 ms: the bound changes no round trip by
// more than the spread; tcp_stream over kthread retransmitted 400 to 2400
// segments a second without it, none with it.
const queueBytes = 256 * (1514 + 790)

// contexts is the table of contexts. All of them receive on the CPU of a
// wire's thread, but for kthread, whose thread the scheduler places unless it is
// bound, and backlog, which has a CPU of its own that may be the same.
var contexts = []Context{
	{
		Name:  "inline",
		About: "inside the wire's own write, before the next frame is read",
	},
	{
		Name:  "frags",
		About: "inside the wire's own write too, by way of GRO, in page fragments",
		// The NAPI instance is scheduled and completed around each frame in
		// the write (tun_get_user in drivers/net/tun.c): no poll ever runs, in
		// softirq or in a thread, and no queue is there to be bounded. So GRO
		// never finds two frames to merge.
		TAP: tuntap.Options{NAPI: true, NAPIFrags: true},
	},
	{
		// Where netif_rx put what a driver gave it, which tun_get_user called
		// before it took to netif_receive_skb. The queue is bounded by the sysctl
		// net.core.netdev_max_backlog, and what is too much is dropped there.
		Name:    "backlog",
		About:   "from the backlog queue of one CPU, in softirq",
		Steered: true,
	},
	{
		Name:  "softirq",
		About: "a NAPI poll in softirq, on the CPU that wrote the frame",
		TAP:   tuntap.Options{NAPI: true, SndBuf: queueBytes},
	},
	{
		Name:     "kthread",
		About:    "a NAPI poll in a kernel thread, woken by the write",
		TAP:      tuntap.Options{NAPI: true, SndBuf: queueBytes},
		Threaded: true,
	},
	{
		Name:    "uthread",
		About:   "inside the write of a second user thread, woken for the frame",
		Handoff: true,
	},
}

// Contexts returns the table, in the order in which reports show it.
func Contexts() []Context { return slices.Clone(contexts) }

// ContextOf returns the row with that name.
func ContextOf(name string) (Context, bool) {
	i := slices.IndexFunc(contexts, func(c Context) bool { return c.Name == name })
	if i < 0 {
		return Context{}, false
	}
	return contexts[i], true
}

// ContextNames lists the table's names for messages: "inline, softirq".
func ContextNames() string {
	names := make([]string, len(contexts))
	for i, c := range contexts {
		names[i] = c.Name
	}
	return strings.Join(names, ", ")
}
