package rooms

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pureImports lists all that a pure room may import beside other pure rooms:
// what computes and neither sees nor changes its surroundings, so that the
// room can be tested exactly and runs anywhere.
var pureImports = []string{
	"bufio", "bytes", "cmp", "compress/gzip", "container/...", "encoding/...", "errors", "fmt", "hash/...", "html", "io", "iter", "maps", "math/...",
	"net/netip", "regexp/...", "slices", "sort", "strconv", "strings", "text/template/...", "time", "unicode/...",
	"github.com/goccy/go-yaml/...", "github.com/go-json-experiment/json/...",
}

// surroundings lists what packages of pureImports have that is not pure.
var surroundings = []struct {
	imports []string
	// names are the ones that must not be used; with but, all must not
	// but those.
	names, but []string
	reason     string
}{
	{
		imports: []string{"time"},
		names:   []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
		reason:  "pure rooms have no clock: times come as arguments",
	},
	{
		imports: []string{"time"},
		names:   []string{"Local", "LoadLocation"},
		reason:  "pure rooms read no files, also not those of time zones",
	},
	{
		imports: []string{"github.com/goccy/go-yaml/parser"},
		names:   []string{"ParseFile"},
		reason:  "pure rooms read no files",
	},
	{
		imports: []string{"math/rand", "math/rand/v2"},
		but:     []string{"New", "NewPCG", "NewChaCha8", "NewSource", "NewZipf", "Rand", "PCG", "ChaCha8", "Source", "Source64", "Zipf"},
		reason:  "chance comes from a seed that is told, so that it can be had again",
	},
	{
		imports: []string{"fmt"},
		names:   []string{"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
		reason:  "pure rooms have no standard input and output",
	},
}

// impurities lists what a file of a pure room must not have.
func impurities(file *ast.File) []string {
	var found []string
	names := map[string]string{} // of imports, by the file's own name for them
	for _, spec := range file.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return []string{err.Error()}
		}
		allowed := strings.HasPrefix(imp, module+"internal/") || // the layers' to judge
			slices.ContainsFunc(pureImports, func(p string) bool { return matches(p, imp) })
		if !allowed {
			found = append(found, imp+", which is not among the imports that a pure room may have")
		}
		name := path.Base(imp)
		if imp == "math/rand/v2" {
			name = "rand"
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == "." {
			found = append(found, imp+" without its name, which hides what is used of it")
		}
		names[name] = imp
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if _, starts := n.(*ast.GoStmt); starts {
			found = append(found, "a go statement: pure rooms have one thread, so that their tests need no race detector")
		}
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := s.X.(*ast.Ident)
		if !ok {
			return true
		}
		for _, r := range surroundings {
			if !slices.Contains(r.imports, names[x.Name]) {
				continue
			}
			if slices.Contains(r.names, s.Sel.Name) || len(r.but) > 0 && !slices.Contains(r.but, s.Sel.Name) {
				found = append(found, fmt.Sprintf("%s.%s: %s", x.Name, s.Sel.Name, r.reason))
			}
		}
		return true
	})
	return found
}

func TestImpurities(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{`import "time"; var d = 3 * time.Second`, ""},
		{`import "time"; var t = time.Now()`, "time.Now: "},
		{`import "time"; func f() { defer time.Sleep(1) }`, "time.Sleep: "},
		{`import "time"; var f = time.Since`, "time.Since: "},
		{`import clock "time"; var t = clock.Now()`, "clock.Now: "},
		{`import "time"; var l = time.Local`, "time.Local: "},
		{`import . "time"; var t = Now()`, "time without its name"},
		{`import "math/rand/v2"; var r = rand.New(rand.NewPCG(1, 2))`, ""},
		{`import "math/rand/v2"; var n = rand.IntN(6)`, "rand.IntN: "},
		{`import "math/rand"; func f() { rand.Shuffle(0, nil) }`, "rand.Shuffle: "},
		{`import r "math/rand/v2"; var n = r.Float64()`, "r.Float64: "},
		{`import "math/rand/v2"; func f(r *rand.Rand) int { return r.IntN(6) }`, ""},
		{`import "fmt"; func f() { fmt.Println() }`, "fmt.Println: "},
		{`import "fmt"; var s = fmt.Sprint()`, ""},
		{`import "net/netip"; var a netip.Addr`, ""},
		{`func f() { go f() }`, "a go statement: "},
		{`import "net/http"`, "net/http, "},
		{`import "net"`, "net, "},
		{`import _ "os/signal"`, "os/signal, "},
		{`import "path/filepath"`, "path/filepath, "},
		{`import "io/ioutil"`, "io/ioutil, "},
		{`import "crypto/rand"`, "crypto/rand, "},
		{`import "golang.org/x/sys/unix"`, "golang.org/x/sys/unix, "},
		{`import "netdelta/internal/unit"`, ""},
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x; "+c.source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(impurities(file), "; ")
		if (c.want == "") != (got == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: found %q, want %q", c.source, got, c.want)
		}
	}
}
