package main

import (
	"reflect"
	"testing"
)

func packageAt(folder string, imports, testImports, deps []string) goPackage {
	full := func(folders []string) (out []string) {
		for _, f := range folders {
			out = append(out, module+"/"+f)
		}
		return out
	}
	return goPackage{
		ImportPath: module + "/" + folder, TestGoFiles: []string{"a_test.go"},
		Imports: full(imports), XTestImports: full(testImports), Deps: full(append(deps, imports...)),
	}
}

func TestPackagesNearABugComeFirst(t *testing.T) {
	all := []goPackage{
		packageAt("cmd/countersign", []string{"internal/control", "internal/rules/run"}, nil, nil),
		packageAt("internal/api", []string{"internal/control"}, nil, []string{"internal/rules/run"}),
		packageAt("internal/control", []string{"internal/rules/run", "internal/other"}, nil, nil),
		packageAt("internal/other", nil, nil, nil),
		packageAt("internal/peer", nil, []string{"internal/rules/run"}, nil),
		packageAt("internal/rules/run", nil, nil, nil),
		packageAt("internal/tester", nil, []string{"internal/control"}, nil),
		packageAt("test", nil, []string{"test/harness"}, nil),
		packageAt("test/crash", nil, []string{"test/harness"}, nil),
		packageAt("test/planted", nil, nil, nil),
		{ImportPath: module + "/internal/untested", Imports: []string{module + "/internal/rules/run"}},
	}
	want := [][]string{
		{"./internal/rules/run"}, {"./internal/control", "./internal/peer"}, {"./test"},
		{"./cmd/countersign", "./internal/api", "./internal/tester", "./test/crash"},
		{"./internal/other"},
	}
	if got := searchOrder(all, []string{"internal/rules/run"}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}

// TestEveryPackageWithTestsIsTried: nobody would notice that a package is missing in the order.
func TestEveryPackageWithTestsIsTried(t *testing.T) {
	all, err := (tree{dir: root}).goPackages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]int{}
	for _, packages := range searchOrder(all, []string{"."}) {
		for _, p := range packages {
			tried[p]++
		}
	}
	for _, p := range all {
		want := 1
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 || p.ImportPath == itself {
			want = 0
		}
		if tried["./"+p.folder()] != want {
			t.Errorf("%s comes %d times, not %d", p.folder(), tried["./"+p.folder()], want)
		}
	}
}
