package main

import (
	"bytes"
	"cmp"
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
	ImportPath                         string
	Imports, TestImports, XTestImports []string
	TestGoFiles, XTestGoFiles          []string
}

func (p goPackage) folder() string { return folderOf(p.ImportPath) }

// all the packages of the tree.
func (t tree) goPackages(ctx context.Context) ([]goPackage, error) {
	out, err := t.goCommand(ctx, "list", "-json=ImportPath,Imports,TestImports,XTestImports,TestGoFiles,XTestGoFiles", "./...").Output()
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
	itself  = module + "/test/planted" // its test compares the list with the tree
)

// searchOrder is in which order packages are tried for a bug in these folders:
// first those whose tests call it, by how many imports lie between, all of one
// distance at once. Those that drive the service from outside take long, so they
// come one by one, the API's own tests first. Those that can't reach the bug come
// last, for what they read or build themselves.
func searchOrder(all []goPackage, folders []string) [][]string {
	distance := distances(all, folders)
	near := map[int][]string{}
	var outside, rest []string
	for _, p := range all {
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 || p.ImportPath == itself {
			continue
		}
		d, reached := testDistance(p, distance)
		switch {
		case p.fromOutside():
			outside = append(outside, "./"+p.folder())
		case reached:
			near[d] = append(near[d], "./"+p.folder())
		default:
			rest = append(rest, "./"+p.folder())
		}
	}
	var out [][]string
	for d := range len(all) + 1 {
		if len(near[d]) > 0 {
			out = append(out, near[d])
		}
	}
	slices.SortStableFunc(outside, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	for _, folder := range outside {
		out = append(out, []string{folder})
	}
	if len(rest) > 0 {
		out = append(out, rest)
	}
	return out
}

func rank(folder string) int {
	if i := slices.Index([]string{"./test", "./cmd/countersign"}, folder); i >= 0 {
		return i
	}
	return 2
}

func (p goPackage) fromOutside() bool {
	return p.ImportPath == service || slices.Contains(p.TestImports, harness) || slices.Contains(p.XTestImports, harness)
}

// distances count the imports between the packages in these folders and those that
// need them.
func distances(all []goPackage, folders []string) map[string]int {
	out := map[string]int{}
	for _, folder := range folders {
		out[path.Join(module, folder)] = 0
	}
	for changed := true; changed; {
		changed = false
		for _, p := range all {
			d, ok := nearest(out, p.Imports)
			if have, known := out[p.ImportPath]; ok && (!known || d+1 < have) {
				out[p.ImportPath], changed = d+1, true
			}
		}
	}
	return out
}

func testDistance(p goPackage, distance map[string]int) (int, bool) {
	own, reached := distance[p.ImportPath]
	by, ok := nearest(distance, slices.Concat(p.TestImports, p.XTestImports))
	switch {
	case !ok:
		return own, reached
	case !reached:
		return by + 1, true
	}
	return min(own, by+1), true
}

func nearest(distance map[string]int, imports []string) (least int, ok bool) {
	for _, i := range imports {
		if d, known := distance[i]; known && (!ok || d < least) {
			least, ok = d, true
		}
	}
	return least, ok
}
