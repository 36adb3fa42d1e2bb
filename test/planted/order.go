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

// goPackage is a package, as `go list` tells it.
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
	itself  = module + "/test/planted" // its test compares the list with the tree
)

// The groups in which packages are tried, each by one go command.
const (
	own     = iota // of the bug
	direct         // import the bug's package, or their tests do
	fromAPI        // the API's own tests
	further        // reach the bug through other packages, or drive the service from outside
	others         // can't reach it but by what they read or build themselves
	groups
)

// searchOrder is in which order packages are tried for a bug in these folders: a
// search ends at the first test that fails, so the nearest come first.
func searchOrder(all []goPackage, folders []string) [][]string {
	buggy := in(folders)
	reached := map[string]bool{} // packages that need a buggy one
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

// in says whether a package is in one of these folders.
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
		return further // takes long, however few imports lie between
	case slices.ContainsFunc(imports, buggy):
		return direct
	case slices.ContainsFunc(imports, func(i string) bool { return reached[i] }):
		return further
	}
	return others
}
