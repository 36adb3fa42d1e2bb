package control_test

import (
	"go/ast"
	"regexp"
	"testing"
)

// bodyOf are the names of types that bodies of requests have.
var bodyOf = regexp.MustCompile(`(Write|Start|Request|Decision|Reconcile|Admission|Toggle|Manifest)$`)

// TestEachUseCaseRefusesABodyThatTheAPIWouldRefuse: forms, chat and MCP make theirs without the
// API's decoder. A heartbeat comes by the API alone.
func TestEachUseCaseRefusesABodyThatTheAPIWouldRefuse(t *testing.T) {
	found := 0
	for _, f := range functions(t) {
		if f.Recv == nil || !f.Name.IsExported() || !takesBody(f) {
			continue
		}
		found++
		if !calls(f, "WellFormed") {
			t.Errorf("%s takes a body and doesn't call WellFormed", f.Name.Name)
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
			found = found || nameOf(c.Fun) == name
		}
		return !found
	})
	return found
}
