package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
)

// goPackage is a package in the output of `go list`.
type goPackage struct {
	ImportPath                               string
	Imports, TestImports, XTestImports, Deps []string
	TestGoFiles, XTestGoFiles                []string
}

func (p goPackage) folder() string { return folderOf(p.ImportPath) }

// goPackages are all packages of the tree.
func (t tree) goPackages(ctx context.Context) ([]goPackage, error) {
	out, err := t.goCommand(ctx, "list", "-json=ImportPath,Imports,TestImports,XTestImports,Deps,TestGoFiles,XTestGoFiles", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []goPackage
	for lines := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := lines.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all = append(all, p)
	}
}

const (
	harness = module + "/test/harness"
	service = module + "/cmd/countersign"
	api     = module + "/test"
	itself  = module + "/test/planted" // a test of this package compares the list with the tree
)

// The groups in which packages are tried, each with one call of the go command.
const (
	own     = iota // the packages with the bug
	direct         // packages that import those, also only in tests
	fromAPI        // the API's own tests
	further        // packages that import them indirectly, or tests of the binary
	others         // packages that reach the bug only by files that they read or build
	groups
)

// searchOrder is the order in which packages are tried for a bug in these folders. A search ends at the first
// failed test, so the nearest packages come first.
func searchOrder(all []goPackage, folders []string) [][]string {
	buggy := in(folders)
	reached := map[string]bool{} // packages that depend on a buggy one
	for _, p := range all {
		reached[p.ImportPath] = slices.ContainsFunc(p.Deps, buggy)
	}
	out := make([][]string, groups)
	for _, p := range all {
		if len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 && p.ImportPath != itself {
			g := p.group(buggy, reached)
			out[g] = append(out[g], "./"+p.folder())
		}
	}
	return slices.DeleteFunc(out, func(group []string) bool { return len(group) == 0 })
}

// in returns a function that reports whether a package is in one of these folders.
func in(folders []string) func(importPath string) bool {
	return func(importPath string) bool {
		return slices.ContainsFunc(folders, func(f string) bool { return importPath == path.Join(module, f) })
	}
}

func (p goPackage) group(buggy func(importPath string) bool, reached map[string]bool) int {
	imports := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
	switch {
	case buggy(p.ImportPath):
		return own
	case p.ImportPath == api:
		return fromAPI
	case p.ImportPath == service || slices.Contains(imports, harness):
		return further // they take long, even if they import the package directly
	case slices.ContainsFunc(imports, buggy):
		return direct
	case slices.ContainsFunc(imports, func(i string) bool { return reached[i] }):
		return further
	}
	return others
}
