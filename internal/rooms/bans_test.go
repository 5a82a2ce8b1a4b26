package rooms

import (
	"slices"
	"strings"
	"testing"
)

// ban says what particular rooms must not import beyond the order of the
// layers.
type ban struct {
	rooms  []string // empty: every room
	except []string
	target string   // ends in /... for a whole tree
	allow  []string // of that tree
	reason string
}

var bans = []ban{
	{except: []string{"sys", "sys/tuntap", "sys/uring", "sys/xsk", "proto/controlv1"}, target: "unsafe",
		reason: "raw memory is handled at one place, where it is reviewed"},
	{except: []string{"netlab", "knob", "counters"}, target: "github.com/vishvananda/...",
		reason: "network configuration is changed at two places, our own and a user's, and read at one more"},
	{except: []string{"netlab", "knob", "counters"}, target: "github.com/safchain/ethtool/...",
		reason: "network configuration is changed at two places, our own and a user's, and read at one more"},
	{except: []string{"spec", "interop/table"}, target: "github.com/goccy/...",
		reason: "files in YAML are read at two places, plans and posted tables, which say where in them an error is"},
	{except: []string{"counters/bpf", "counters/trace"}, target: "github.com/cilium/...",
		reason: "what runs in the kernel is loaded at two places, where it is reviewed"},
	{rooms: []string{"agent"}, target: module + "internal/run", reason: "agent and coordinator meet only through ctl, so that they can be on two hosts"},
	{rooms: []string{"run"}, target: module + "internal/agent", reason: "agent and coordinator meet only through ctl, so that they can be on two hosts"},
	{rooms: []string{"stats", "summary", "compare", "report", "report/text", "store", "store/memory", "store/sqlite", "store/storetest"}, target: module + "internal/traffic",
		reason: "what keeps and judges figures must not know how they were measured"},
	{rooms: []string{"run", "ctl", "report", "report/text"}, target: module + "internal/worker",
		reason: "only an agent starts workers"},
	{except: []string{"ctl", "proto/controlv1/controlv1connect"}, target: module + "proto/...",
		reason: "how messages are encoded is known at one place"},
	{rooms: []string{"traffic", "worker"}, target: "net/...", allow: []string{"net/netip"},
		reason: "measured sockets are never known to the netpoller"},
	{target: "C", reason: "the program is one static binary"},
	{target: "io/ioutil", reason: "io and os have what it had"},
	{except: []string{"store/sqlite"}, target: "modernc.org/sqlite/...", reason: "what keeps runs is behind the Store interface, so that another backend can do so"},
	{except: []string{"store/sqlite"}, target: "database/sql/...", reason: "what keeps runs is behind the Store interface, so that another backend can do so"},
	{except: []string{"labtest", "labtest/veth", "labtest/browser", "rooms", "store/storetest"}, target: "testing/...", reason: "test helpers live in labtest, and what every store has to pass in store/storetest"},
}

func (b ban) applies(room string) bool {
	return (len(b.rooms) == 0 || slices.Contains(b.rooms, room)) && !slices.Contains(b.except, room)
}

func (b ban) hits(imp string) bool {
	return matches(b.target, imp) && !slices.ContainsFunc(b.allow, func(p string) bool { return matches(p, imp) })
}

// matches tells whether an import is the pattern, or in its tree.
func matches(pattern, imp string) bool {
	if tree, ok := strings.CutSuffix(pattern, "/..."); ok {
		return imp == tree || strings.HasPrefix(imp, tree+"/")
	}
	return imp == pattern
}

func TestBanHits(t *testing.T) {
	network := ban{rooms: []string{"traffic"}, except: []string{"ctl"}, target: "net/...", allow: []string{"net/netip"}}
	for imp, want := range map[string]bool{
		"net": true, "net/http": true, "net/http/httptest": true, "net/netip": false, "netdelta/internal/spec": false, "os": false,
	} {
		if network.hits(imp) != want {
			t.Errorf("%s: want %v", imp, want)
		}
	}
	if matches("os", "os/exec") {
		t.Error("a pattern without /... is a whole tree")
	}
	if !network.applies("traffic") || network.applies("ctl") || network.applies("agent") {
		t.Error("the ban is not for traffic alone")
	}
	if all := (ban{except: []string{"sys"}}); !all.applies("ctl") || all.applies("sys") {
		t.Error("a ban without rooms is for all but the exceptions")
	}
}

// TestBansNameRooms: a ban on a room that is not there would say nothing.
func TestBansNameRooms(t *testing.T) {
	known := []string{"sys/xsk"} // a place kept for raw memory yet to come
	for _, l := range layers {
		known = append(known, l.rooms...)
	}
	for _, b := range bans {
		for _, room := range slices.Concat(b.rooms, b.except) {
			if !slices.Contains(known, room) {
				t.Errorf("the ban of %s names room %s, which is none", b.target, room)
			}
		}
	}
}
