package rooms

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// codesOf are the codes of warnings in some files: what stands in a literal as
// the value of "Code", whether spelt out or by the name of a constant, and every
// constant whose name begins with Code, Guard or Warn. One that is put together
// is its beginning.
func codesOf(files []*ast.File) []string {
	constants, renamed := map[string]string{}, map[string]string{}
	codes := map[string]bool{}
	for _, f := range files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				for i, name := range v.Names {
					if i >= len(v.Values) {
						continue
					}
					text, ok := spelt(v.Values[i])
					if other, is := v.Values[i].(*ast.SelectorExpr); is {
						renamed[name.Name] = other.Sel.Name
					}
					if !ok {
						continue
					}
					constants[name.Name] = text
					for _, prefix := range []string{"Code", "Guard", "Warn"} {
						if strings.HasPrefix(name.Name, prefix) {
							codes[text] = true
						}
					}
				}
			}
		}
	}
	for name, other := range renamed {
		if text, ok := constants[other]; ok {
			constants[name] = text
		}
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			kv, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			if key, ok := kv.Key.(*ast.Ident); !ok || key.Name != "Code" {
				return true
			}
			switch v := kv.Value.(type) {
			case *ast.Ident:
				if text, ok := constants[v.Name]; ok {
					codes[text] = true
				}
			case *ast.SelectorExpr:
				if text, ok := constants[v.Sel.Name]; ok {
					codes[text] = true
				}
			case *ast.BinaryExpr:
				if text, ok := spelt(v.X); ok {
					codes[text] = true
				}
			default:
				if text, ok := spelt(kv.Value); ok {
					codes[text] = true
				}
			}
			return true
		})
	}
	return slices.Sorted(maps.Keys(codes))
}

func spelt(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil && text != ""
}

// explained reads the tables of a page: what stands in its first column.
func explained(page string) []string {
	var all []string
	for line := range strings.Lines(page) {
		if cells := strings.Split(line, "|"); len(cells) == 6 {
			for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
				all = append(all, m[1])
			}
		}
	}
	return all
}

// TestWarningsAreDocumented holds that every code of a warning has a row in
// docs/guards.md with its meaning, advice and what provokes it, and no second
// one, and that the page has no other.
func TestWarningsAreDocumented(t *testing.T) {
	const file = "docs/guards.md"
	page, err := os.ReadFile("../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	rows := explained(string(page))
	var files []*ast.File
	for _, f := range sourceFiles(t) {
		// A suite of tests has made-up warnings.
		if f.room != "store/storetest" && !strings.HasPrefix(f.room, bench) {
			files = append(files, f.syntax)
		}
	}
	codes := codesOf(files)
	if len(codes) < 50 {
		t.Fatalf("found %d codes in the source: %q", len(codes), codes)
	}
	for _, code := range codes {
		has := func(row string) bool {
			return row == code || strings.HasSuffix(code, "-") && strings.HasPrefix(row, code)
		}
		if !slices.ContainsFunc(rows, has) {
			t.Errorf("%s: no row for the warning %q", file, code)
		}
	}
	for i, row := range rows {
		if slices.Contains(rows[:i], row) {
			t.Errorf("%s: two rows for the warning %q", file, row)
		}
		in := func(code string) bool {
			return row == code || strings.HasSuffix(code, "-") && strings.HasPrefix(row, code)
		}
		if !slices.ContainsFunc(codes, in) {
			t.Errorf("%s: %q is no warning of the program", file, row)
		}
	}
}

// Codes are found however they are spelt.
func TestCodesOf(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
const CodeOne, other, loopback = "one", "two", "three"
const alias = pkg.other
var _ = []w{{Code: other}, {Code: "four"}, {Code: "five-" + s}, {Code: unknown}, {Code: alias}, {Text: "six"}}
`, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := codesOf([]*ast.File{f}), []string{"five-", "four", "one", "two"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
