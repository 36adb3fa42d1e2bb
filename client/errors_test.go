package client_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestEachRefusalHasItsError: whoever calls asks by errors.Is for each code that an answer may have.
func TestEachRefusalHasItsError(t *testing.T) {
	codes, errs := named(t, "../errors.go", token.CONST, "Code"), named(t, "errors.go", token.VAR, "Err")
	statuses := named(t, "../status.go", token.VAR, "Code")
	if len(statuses) == 0 {
		t.Fatal("no code has a status")
	}
	for name := range statuses {
		if !codes[name] || !errs[name] {
			t.Errorf("Code%s has a status, and client no Err%s", name, name)
		}
	}
	for name := range errs {
		if !statuses[name] {
			t.Errorf("Err%s is of no code that an answer may have", name)
		}
	}
}

// named are the names that a file's declarations of a kind use and that begin with a prefix, without it.
func named(t *testing.T, path string, kind token.Token, prefix string) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, d := range file.Decls {
		if group, is := d.(*ast.GenDecl); !is || group.Tok != kind {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if name, is := n.(*ast.Ident); is {
				if rest, begins := strings.CutPrefix(name.Name, prefix); begins && rest != "" {
					found[rest] = true
				}
			}
			return true
		})
	}
	return found
}
