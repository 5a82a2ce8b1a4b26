package rooms

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "netdelta/"

// layers lists every room from the lowest up. A room may import the rooms of
// lower layers and, within its own layer, those that stand before it.
var layers = []struct {
	name  string
	rooms []string
}{
	{"pure", []string{"unit", "hist", "spec", "result", "stats", "summary", "compare"}},
	{"linux", []string{"sys", "sys/tuntap", "feature", "counters", "ether", "netlab", "traffic"}},
	{"processes", []string{"store", "store/memory", "store/sqlite", "store/storetest",
		"worker", "roles", "ctl", "agent", "run", "hosts", "report/text", "report", "lab"}},
	{"surface", []string{"cli", "labtest", "rooms"}},
}

// bans lists what particular rooms must not import beyond the order of the
// layers, each with its reason. A pattern ends in /... for a whole tree.
var bans = []ban{
	{rooms: layers[0].rooms, target: "os", reason: "pure rooms do no I/O, so that they can be tested exactly and run anywhere"},
	{rooms: layers[0].rooms, target: "os/exec", reason: "pure rooms start no processes"},
	{rooms: layers[0].rooms, target: "net", reason: "pure rooms touch no network"},
	{rooms: layers[0].rooms, target: "syscall", reason: "pure rooms know no kernel"},
	{rooms: layers[0].rooms, target: "golang.org/x/sys/...", reason: "pure rooms know no kernel"},
	{except: []string{"sys", "sys/tuntap", "sys/uring", "sys/xsk"}, target: "unsafe",
		reason: "raw memory is handled at one place, where it is reviewed"},
	{except: []string{"netlab"}, target: "github.com/vishvananda/netlink/...",
		reason: "network configuration is changed at one place"},
	{except: []string{"netlab"}, target: "github.com/safchain/ethtool/...",
		reason: "network configuration is changed at one place"},
	{rooms: []string{"agent"}, target: module + "internal/run", reason: "agent and coordinator meet only through ctl, so that they can be on two hosts"},
	{rooms: []string{"run"}, target: module + "internal/agent", reason: "agent and coordinator meet only through ctl, so that they can be on two hosts"},
	{rooms: []string{"stats", "summary", "compare", "report", "report/text", "store", "store/memory", "store/sqlite"}, target: module + "internal/traffic",
		reason: "what keeps and judges figures must not know how they were measured"},
	{rooms: []string{"run", "ctl", "report", "report/text"}, target: module + "internal/worker",
		reason: "only an agent starts workers"},
	{rooms: []string{"traffic", "worker"}, target: "net", reason: "measured sockets are never known to the netpoller"},
	{target: "C", reason: "the program is one static binary"},
	{except: []string{"store/sqlite"}, target: "modernc.org/sqlite/...", reason: "what keeps runs is behind the Store interface, so that another backend can do so"},
	{except: []string{"labtest", "rooms", "store/storetest"}, target: "testing", reason: "test helpers live in labtest, and what every store has to pass in store/storetest"},
}

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
		if !ok {
			t.Errorf("%s: room %s has no layer: give it one in rooms_test.go and docs/architecture.md", f.name, f.room)
			continue
		}
		for _, imp := range f.imports {
			for _, b := range bans {
				if b.applies(f.room) && matches(b.target, imp) {
					t.Errorf("%s: room %s imports %s: %s", f.name, f.room, imp, b.reason)
				}
			}
			room, inside := strings.CutPrefix(imp, module+"internal/")
			if !inside {
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

func TestNoInitFunctions(t *testing.T) {
	for _, f := range sourceFiles(t) {
		if f.hasInit {
			t.Errorf("%s: func init: tables are explicit, so that what a program does can be read from main", f.name)
		}
	}
}

type ban struct {
	rooms  []string // empty: every room
	except []string
	target string
	reason string
}

func (b ban) applies(room string) bool {
	return (len(b.rooms) == 0 || slices.Contains(b.rooms, room)) && !slices.Contains(b.except, room)
}

func matches(pattern, imp string) bool {
	if tree, ok := strings.CutSuffix(pattern, "/..."); ok {
		return imp == tree || strings.HasPrefix(imp, tree+"/")
	}
	return imp == pattern
}

type source struct {
	name, room string
	imports    []string
	hasInit    bool
}

// sourceFiles reads the imports of every non-test Go file below internal/.
func sourceFiles(t *testing.T) []source {
	t.Helper()
	root := ".."
	var files []source
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "testdata" {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		f := source{name: rel, room: path.Dir(filepath.ToSlash(rel))}
		for _, imp := range parsed.Imports {
			p, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				return err
			}
			f.imports = append(f.imports, p)
		}
		f.hasInit = slices.ContainsFunc(parsed.Decls, func(d ast.Decl) bool {
			fn, ok := d.(*ast.FuncDecl)
			return ok && fn.Recv == nil && fn.Name.Name == "init"
		})
		files = append(files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no source files found")
	}
	return files
}
