package control_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

// bodyOf are the names of types that bodies of requests have.
var bodyOf = regexp.MustCompile(`(Write|Start|Request|Decision|Reconcile|Admission|Toggle|Manifest)$`)

// TestEachUseCaseRefusesABodyThatTheAPIWouldRefuse: forms, chat and MCP make theirs without the
// API's decoder. A heartbeat comes by the API alone.
func TestEachUseCaseRefusesABodyThatTheAPIWouldRefuse(t *testing.T) {
	files := token.NewFileSet()
	packages, err := parser.ParseDir(files, ".", func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0) //nolint:staticcheck // one package, without build tags
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range packages["control"].Files {
		for _, d := range file.Decls {
			f, is := d.(*ast.FuncDecl)
			if !is || f.Recv == nil || !f.Name.IsExported() || !takesBody(f) {
				continue
			}
			found++
			if !calls(f, "wellFormed") {
				t.Errorf("%s takes a body and doesn't call wellFormed", f.Name.Name)
			}
		}
	}
	if found < 25 {
		t.Errorf("only %d use cases that take a body were found", found)
	}
}

func takesBody(f *ast.FuncDecl) bool {
	for _, p := range f.Type.Params.List {
		if s, is := p.Type.(*ast.SelectorExpr); is && bodyOf.MatchString(s.Sel.Name) {
			return true
		}
	}
	return false
}

func calls(f *ast.FuncDecl, name string) (found bool) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if c, is := n.(*ast.CallExpr); is {
			if id, is := c.Fun.(*ast.Ident); is && id.Name == name {
				found = true
			}
		}
		return !found
	})
	return found
}
