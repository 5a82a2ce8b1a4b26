package rooms

import (
	"slices"
	"strings"
	"testing"
)

const module = "netdelta/"

// layers lists every room from the lowest up: a directory below internal/, or
// one of cmd/ or proto/. A room may import the rooms of lower layers and,
// within its own layer, those that stand before it.
var layers = []struct {
	name  string
	rooms []string
}{
	{"protocol", []string{"proto", "proto/controlv1", "proto/controlv1/controlv1connect"}},
	{"pure", pure},
	{"linux", []string{"sys", "sys/tuntap", "sys/uring", "sys/nft", "feature", "counters/bpf", "counters/trace", "counters", "ether", "netlab", "knob", "traffic"}},
	{"processes", []string{"store", "store/memory", "store/sqlite", "store/storetest",
		"worker", "roles", "ctl", "agent", "run", "hosts", "report/text", "report/rows", "report/markdown", "report/html", "report/plot", "report/term", "report", "web", "lab"}},
	{"surface", []string{"cli", "labtest", "labtest/veth", "labtest/browser", "rooms", "cmd/netdelta"}},
}

var pure = []string{"unit", "hist", "spec", "result", "stats", "stages", "summary", "compare", "calibrate", "findings", "doctor",
	"interop/scan", "interop/netperf", "interop/iperf", "interop/qperf", "interop/sockperf", "interop/ping", "interop/neper", "interop/nuttcp",
	"interop/netpipe", "interop/ntttcp", "interop/table", "interop", "picture"}

// bench is where programs live that compare the instrument with others. They
// may import every room, and no room imports them.
const bench = "bench/"

// TestImportsPointDown checks every non-test file of the module, whatever
// system it is built for.
func TestImportsPointDown(t *testing.T) {
	rank := map[string][2]int{}
	for l, layer := range layers {
		for i, room := range layer.rooms {
			rank[room] = [2]int{l, i}
		}
	}
	seen := map[string]bool{}
	for _, f := range sourceFiles(t) {
		seen[f.room] = true
		from, ok := rank[f.room]
		if strings.HasPrefix(f.room, bench) {
			from, ok = [2]int{len(layers)}, true
		}
		if !ok {
			t.Errorf("%s: room %s has no layer: give it one in rooms_test.go and docs/architecture.md", f.name, f.room)
			continue
		}
		for _, imp := range f.imports {
			path, inside := strings.CutPrefix(imp, module)
			if !inside {
				continue
			}
			room := strings.TrimPrefix(path, "internal/")
			if strings.HasPrefix(room, bench) {
				t.Errorf("%s imports %s: nothing imports benchmarks, so that they may import anything", f.name, imp)
				continue
			}
			to, ok := rank[room]
			if !ok {
				t.Errorf("%s imports %s, which has no layer", f.name, imp)
				continue
			}
			if to[0] > from[0] || (to[0] == from[0] && to[1] >= from[1]) {
				t.Errorf("%s: room %s imports %s, which stands above it: imports point down only, so that a room can be understood by what is below it", f.name, f.room, room)
			}
		}
	}
	for room := range rank {
		if !seen[room] {
			t.Errorf("room %s is listed but has no files", room)
		}
	}
}

func TestBans(t *testing.T) {
	for _, f := range sourceFiles(t) {
		for _, imp := range f.imports {
			for _, b := range bans {
				if b.applies(f.room) && b.hits(imp) {
					t.Errorf("%s: room %s imports %s: %s", f.name, f.room, imp, b.reason)
				}
			}
		}
	}
}

func TestPureRooms(t *testing.T) {
	for _, f := range sourceFiles(t) {
		if !slices.Contains(pure, f.room) {
			continue
		}
		for _, what := range impurities(f.syntax) {
			t.Errorf("%s: room %s uses %s", f.name, f.room, what)
		}
	}
}

func TestNoInitFunctions(t *testing.T) {
	for _, f := range sourceFiles(t) {
		if f.hasInit() && !strings.HasPrefix(f.room, "proto/") { // those are generated
			t.Errorf("%s: func init: tables are explicit, so that what a program does can be read from main", f.name)
		}
	}
}
