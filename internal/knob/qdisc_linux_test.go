package knob

import (
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"netdelta/internal/sys"
)

func asRoot(t testing.TB, p Place, make func(netlink.QdiscAttrs) []func(*netlink.Handle) error) {
	t.Helper()
	err := p.link(func(nl *netlink.Handle, l netlink.Link) error {
		for _, do := range make(netlink.QdiscAttrs{LinkIndex: l.Attrs().Index, Handle: netlink.MakeHandle(0x17, 0), Parent: netlink.HANDLE_ROOT}) {
			if err := do(nl); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func add(q netlink.Qdisc) func(*netlink.Handle) error {
	return func(nl *netlink.Handle) error { return nl.QdiscAdd(q) }
}

// What a user has put at the root comes back with its handle and options.
func TestQdiscOfAUser(t *testing.T) {
	for name, c := range map[string]struct {
		root func(netlink.QdiscAttrs) []func(*netlink.Handle) error
		want string
	}{
		"pfifo": {func(a netlink.QdiscAttrs) []func(*netlink.Handle) error {
			return []func(*netlink.Handle) error{add(&netlink.GenericQdisc{QdiscAttrs: a, QdiscType: "pfifo"})}
		}, "pfifo limit 1000 handle 17:"},
		"mq": {func(a netlink.QdiscAttrs) []func(*netlink.Handle) error {
			return []func(*netlink.Handle) error{add(&netlink.GenericQdisc{QdiscAttrs: a, QdiscType: "mq"})}
		}, "mq handle 17: below pfifo_fast"},
		"pfifo_fast": {func(a netlink.QdiscAttrs) []func(*netlink.Handle) error {
			return []func(*netlink.Handle) error{add(&netlink.GenericQdisc{QdiscAttrs: a, QdiscType: "pfifo_fast"})}
		}, "pfifo_fast handle 17:"},
	} {
		t.Run(name, func(t *testing.T) {
			ns := newVeth(t, 4)
			p := onV0(ns)
			asRoot(t, p, c.root)
			was := readAt(t, p, "qdisc")
			if was != c.want {
				t.Fatalf("it is %s, want %s", was, c.want)
			}
			h := newTestHolder(t, ns, newJournal(t))
			for _, value := range []string{"bfifo limit 5000", "pfifo limit 9", "default", name} {
				if _, err := h.Set(t.Context(), local(of("v0", "qdisc", value))); err != nil {
					t.Fatal(err)
				}
			}
			if err := h.Restore(t.Context()); err != nil {
				t.Fatal(err)
			}
			if now := readAt(t, p, "qdisc"); now != was {
				t.Errorf("it was %s and is %s", was, now)
			}
		})
	}
}

// What could not be made again exactly is left alone.
func TestQdiscThatStays(t *testing.T) {
	for name, c := range map[string]struct {
		root func(netlink.QdiscAttrs) []func(*netlink.Handle) error
		want string
	}{
		"htb": {func(a netlink.QdiscAttrs) []func(*netlink.Handle) error {
			return []func(*netlink.Handle) error{add(netlink.NewHtb(a))}
		}, "not known"},
		"tbf": {func(a netlink.QdiscAttrs) []func(*netlink.Handle) error {
			return []func(*netlink.Handle) error{add(&netlink.Tbf{QdiscAttrs: a, Rate: 1e6, Limit: 4000, Buffer: netlink.Xmittime(1e6, 2000)})}
		}, "not known"},
		"mq with one below": {func(a netlink.QdiscAttrs) []func(*netlink.Handle) error {
			child := a
			child.Parent, child.Handle = netlink.MakeHandle(0x17, 1), netlink.MakeHandle(0x18, 0)
			return []func(*netlink.Handle) error{add(&netlink.GenericQdisc{QdiscAttrs: a, QdiscType: "mq"}),
				add(&netlink.GenericQdisc{QdiscAttrs: child, QdiscType: "pfifo"})}
		}, "below"},
	} {
		t.Run(name, func(t *testing.T) {
			ns := newVeth(t, 4)
			p := onV0(ns)
			asRoot(t, p, c.root)
			was := readAt(t, p, "qdisc")
			h := newTestHolder(t, ns, newJournal(t))
			if _, err := h.Set(t.Context(), local(of("v0", "qdisc", "pfifo"))); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "left alone") {
				t.Errorf("replaced: %v", err)
			}
			if now := readAt(t, p, "qdisc"); now != was {
				t.Errorf("it was %s and is %s", was, now)
			}
		})
	}
}

// A kernel without a qdisc says so, and what is there stays.
func TestQdiscOfTheKernel(t *testing.T) {
	ns := newVeth(t, 1)
	p := onV0(ns)
	was := readAt(t, p, "qdisc")
	for _, kind := range []string{"fq limit 100 quantum 3000", "fq_codel limit 100 target 5000 interval 100000 ecn 0", "codel target 4000"} {
		t.Run(kind, func(t *testing.T) { oneQdisc(t, ns, kind) })
	}
	if now := readAt(t, p, "qdisc"); now != was {
		t.Errorf("it was %s and is %s", was, now)
	}
}

// oneQdisc sets a kind that not every kernel has, over one of the same kind with
// other options.
func oneQdisc(t *testing.T, ns *sys.NetNS, value string) {
	p := onV0(ns)
	kind, _, _ := strings.Cut(value, " ")
	outer := newTestHolder(t, ns, newJournal(t))
	if _, err := outer.Set(t.Context(), local(of("v0", "qdisc", value))); err != nil {
		if !strings.Contains(err.Error(), "no qdisc "+kind) {
			t.Error(err)
		}
		return
	}
	was := readAt(t, p, "qdisc")
	inner := rootQdisc{p}
	if err := inner.Write(t.Context(), kind+" limit 55"); err != nil {
		t.Fatal(err)
	}
	if err := inner.Restore(t.Context(), was); err != nil {
		t.Fatal(err)
	}
	if now := readAt(t, p, "qdisc"); now != was {
		t.Errorf("it was %s and is %s", was, now)
	}
	if err := outer.Restore(t.Context()); err != nil {
		t.Error(err)
	}
}
