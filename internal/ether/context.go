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
	// TAP is how the interface is made. The caller adds VNetHdr for offload.
	TAP tuntap.Options
	// Threaded asks for the interface's NAPI poll in a kernel thread
	// (/sys/class/net/DEV/threaded), which whoever makes the interface
	// switches on.
	Threaded bool
	// Handoff has the wire give each frame to a second user thread.
	Handoff bool
}

// contexts is the table of contexts. All of them receive on the CPU of a
// wire's thread, but for kthread, whose thread the scheduler places.
var contexts = []Context{
	{
		Name:  "inline",
		About: "inside the wire's own write, before the next frame is read",
	},
	{
		Name:  "softirq",
		About: "a NAPI poll in softirq, on the CPU that wrote the frame",
		TAP:   tuntap.Options{NAPI: true},
	},
	{
		Name:     "kthread",
		About:    "a NAPI poll in a kernel thread, woken by the write",
		TAP:      tuntap.Options{NAPI: true},
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
