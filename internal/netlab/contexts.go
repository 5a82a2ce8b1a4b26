package netlab

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/ether"
	"netdelta/internal/sys"
)

// kind is a kind of link and the contexts in which its hosts can receive.
type kind struct {
	name, about string
	contexts    []contextName
}

type contextName struct{ name, about string }

// kinds is the table of links.
var kinds = []kind{
	{Ether, "two TAPs and our own wire process between them", etherNames()},
	{Veth, "a veth pair: the sender's kernel hands frames straight to the receiver's", vethNames()},
}

func kindOf(name string) (kind, error) {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		if k.name == name {
			return k, nil
		}
		names[i] = k.name
	}
	return kind{}, fmt.Errorf("unknown link %q: valid are %s", name, strings.Join(names, ", "))
}

func (k kind) names() []string {
	names := make([]string, len(k.contexts))
	for i, c := range k.contexts {
		names[i] = c.name
	}
	return names
}

// Contexts returns the names of a kind's receive-handler contexts, nil for an
// unknown kind. ContextOn says which other names are taken too.
func Contexts(kind string) []string {
	k, err := kindOf(kind)
	if err != nil {
		return nil
	}
	return k.names()
}

// otherNames are names of contexts that a kind of link takes besides its own,
// since they are the other kind's for the like: so the kinds can be crossed with
// contexts.
var otherNames = map[string]map[string]string{
	Veth:  {"softirq": "napi", "kthread": "napi-threaded"},
	Ether: {"napi": "softirq", "napi-threaded": "kthread"},
}

// ContextOn is the context's own name on that kind of link: that of one of
// Contexts(kind), which it may have already, or be called by the name that the
// other kind has for the like. ok is false where there is no such context.
func ContextOn(kind, name string) (own string, ok bool) {
	if other, is := otherNames[kind][name]; is {
		name = other
	}
	return name, slices.Contains(Contexts(kind), name)
}

// ContextAbout says where a context handles received frames, in a line that
// completes "frames are handled"; empty for an unknown kind or name.
func ContextAbout(kind, name string) string {
	own, ok := ContextOn(kind, name)
	if !ok {
		return ""
	}
	k, _ := kindOf(kind)
	return k.contexts[slices.Index(k.names(), own)].about
}

// BusyThreads names the threads that carry a link's traffic beside those of
// the two ends, for messages: the wire's, and those that handle received
// frames if the context has any (a backlog has none: it is in softirq). None for an unknown kind or context.
func BusyThreads(kind, context string) []string {
	own, ok := ContextOn(kind, context)
	switch c, _ := ether.ContextOf(own); {
	case !ok:
		return nil
	case kind == Ether:
		names := []string{"the wire's reader at host a", "the wire's reader at host b"}
		if c.Handoff {
			names = append(names, "the wire's writer at host a", "the wire's writer at host b")
		}
		if c.Threaded {
			names = append(names, napiThreadNames[:]...)
		}
		return names
	case vethContextOf(own).threaded:
		return slices.Clone(napiThreadNames[:])
	}
	return nil
}

var napiThreadNames = [...]string{"host a's NAPI thread", "host b's NAPI thread"}

func etherNames() []contextName {
	var names []contextName
	for _, c := range ether.Contexts() {
		names = append(names, contextName{c.Name, c.About})
	}
	return names
}

// vethContext is a context of a veth's receiving end (drivers/net/veth.c).
type vethContext struct {
	name, about string
	// gro is what gives a veth NAPI instances.
	gro bool
	// threaded has them polled in a kernel thread.
	threaded bool
}

var vethContexts = []vethContext{
	{
		name:  "backlog",
		about: "from the CPU's backlog queue in softirq, no NAPI of the device's own, no GRO",
	},
	{
		name:  "napi",
		about: "by the device's NAPI poll in softirq, with GRO",
		gro:   true,
	},
	{
		name:     "napi-threaded",
		about:    "by the device's NAPI poll in a kernel thread, with GRO",
		gro:      true,
		threaded: true,
	},
}

func vethNames() []contextName {
	var names []contextName
	for _, c := range vethContexts {
		names = append(names, contextName{c.name, c.about})
	}
	return names
}

// vethContextOf returns the row of a context that ContextOn knows.
func vethContextOf(name string) vethContext {
	own, _ := ContextOn(Veth, name)
	return vethContexts[slices.IndexFunc(vethContexts, func(c vethContext) bool { return c.name == own })]
}

// What handles received frames on a CPU of its own.
const (
	ByThreads = "kernel threads"
	ByBacklog = "backlog queue"
)

// Handling tells what handles received frames, ByThreads or ByBacklog, and the CPU
// that it is to be on, sys.NoCPU for where the scheduler puts it. It is empty where
// whoever delivers the frame handles it, or the CPU that they do it on.
func Handling(c LinkConfig) (by string, cpu int) {
	switch _, ok := ContextOn(c.Kind, c.Context); {
	case !ok:
	case c.Kind == Veth && vethContextOf(c.Context).threaded, c.Kind == Ether && etherContextOf(c.Context).Threaded:
		return ByThreads, c.HandlerCPU
	case c.Kind == Ether && etherContextOf(c.Context).Steered:
		if cpu, err := c.steersTo(); err == nil {
			return ByBacklog, cpu
		}
	}
	return "", sys.NoCPU
}

// steersTo is the CPU that a context's packets are steered to: the handlers', else
// the wire's, else the first that this process may use.
func (c *LinkConfig) steersTo() (int, error) {
	if c.HandlerCPU != sys.NoCPU {
		return c.HandlerCPU, nil
	}
	if c.WireCPU != sys.NoCPU {
		return c.WireCPU, nil
	}
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		return sys.NoCPU, err
	}
	return cpus[0], nil
}

// etherContextOf likewise.
func etherContextOf(name string) ether.Context {
	own, _ := ContextOn(Ether, name)
	c, _ := ether.ContextOf(own)
	return c
}
