package rooms

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// source is one non-test file.
type source struct {
	name, room string
	imports    []string
	syntax     *ast.File
}

func (s source) hasInit() bool {
	return slices.ContainsFunc(s.syntax.Decls, func(d ast.Decl) bool {
		fn, ok := d.(*ast.FuncDecl)
		return ok && fn.Recv == nil && fn.Name.Name == "init"
	})
}

// sourceRoots are the module's directories that hold Go files.
var sourceRoots = []string{"internal", "cmd", "proto", "bench"}

// sourceFiles reads every non-test Go file of the module.
func sourceFiles(t *testing.T) []source {
	t.Helper()
	const module = "../.."
	var files []source
	for _, root := range sourceRoots {
		before := len(files)
		err := filepath.WalkDir(filepath.Join(module, root), func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && d.Name() == "testdata" {
				return filepath.SkipDir
			}
			if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return nil
			}
			f := source{}
			if f.syntax, err = parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution); err != nil {
				return err
			}
			if f.name, err = filepath.Rel(module, name); err != nil {
				return err
			}
			f.room = strings.TrimPrefix(path.Dir(filepath.ToSlash(f.name)), "internal/")
			for _, imp := range f.syntax.Imports {
				p, err := strconv.Unquote(imp.Path.Value)
				if err != nil {
					return err
				}
				f.imports = append(f.imports, p)
			}
			files = append(files, f)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == before {
			t.Fatalf("no source files found in %s", root)
		}
	}
	return files
}
