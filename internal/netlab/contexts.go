package netlab

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/ether"
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
// unknown kind.
func Contexts(kind string) []string {
	k, err := kindOf(kind)
	if err != nil {
		return nil
	}
	return k.names()
}

// ContextAbout says where a context handles received frames, in a line that
// completes "frames are handled"; empty for an unknown kind or name.
func ContextAbout(kind, name string) string {
	k, err := kindOf(kind)
	if err != nil {
		return ""
	}
	i := slices.IndexFunc(k.contexts, func(c contextName) bool { return c.name == name })
	if i < 0 {
		return ""
	}
	return k.contexts[i].about
}

// BusyThreads names the threads that carry a link's traffic beside those of
// the two ends, for messages: the wire's, and those that handle received
// frames if the context has any. None for an unknown kind or context.
func BusyThreads(kind, context string) []string {
	switch c, ok := ether.ContextOf(context); {
	case kind == Ether && ok:
		names := []string{"the wire's reader at host a", "the wire's reader at host b"}
		if c.Handoff {
			names = append(names, "the wire's writer at host a", "the wire's writer at host b")
		}
		if c.Threaded {
			names = append(names, napiThreadNames[:]...)
		}
		return names
	case kind == Veth && ContextAbout(kind, context) != "" && vethContextOf(context).threaded:
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

// vethContextOf returns the row with that name, which must be there.
func vethContextOf(name string) vethContext {
	return vethContexts[slices.IndexFunc(vethContexts, func(c vethContext) bool { return c.name == name })]
}
