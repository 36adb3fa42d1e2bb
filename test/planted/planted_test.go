package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEndOfTheTests reads what `go test -json` prints.
func TestEndOfTheTests(t *testing.T) {
	const passed = `{"Action":"pass","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"pass","Package":"p"}` + "\n"
	for name, c := range map[string]struct {
		out, by string
		known   bool
	}{
		"all pass":             {passed, "", true},
		"a test fails":         {passed + `{"Action":"fail","Package":"q","Test":"TestB/one"}` + "\n", "q TestB/one", true},
		"a package fails":      {`{"Action":"fail","Package":"q"}` + "\n", "q", true},
		"a test hangs":         {`{"Action":"output","Package":"q","Output":"panic: test timed out after 15m0s\n"}` + "\n" + `{"Action":"fail","Package":"q","Test":"TestB"}` + "\n", "q TestB (timeout)", true},
		"tests don't build":    {`{"Action":"build-fail","ImportPath":"q"}` + "\n" + `{"Action":"fail","Package":"q","FailedBuild":"q"}` + "\n", "", false},
		"a package can't be":   {`{"Action":"fail","Package":"q","FailedBuild":"q"}` + "\n", "", false},
		"a program prints":     {"no JSON\n" + passed, "", true},
		"a line without end":   {strings.Repeat("x", longestLine+1), "", false},
		"the first one counts": {`{"Action":"fail","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"fail","Package":"q"}` + "\n", "p TestA", true},
	} {
		found, err := watch(strings.NewReader(c.out))
		by := ""
		if found != nil {
			by = found.String()
		}
		if by != c.by || (err == nil) != c.known {
			t.Errorf("%s: %q, %v", name, by, err)
		}
	}
}

// TestPuttingBack plants a bug of two edits, the second of which doesn't fit.
func TestPuttingBack(t *testing.T) {
	tr := tree{t.TempDir()}
	file := filepath.Join(tr.dir, "a.go")
	if err := os.WriteFile(file, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func() string {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	first, second := &edit{file: "a.go", old: "one\n", new: "1\n"}, &edit{file: "a.go", old: "two\n", new: "2\n"}
	for name, c := range map[string]struct {
		edits   []*edit
		planted string
		fits    bool
	}{
		"whole":   {[]*edit{first, second}, "1\n2\n", true},
		"by half": {[]*edit{first, first}, "1\ntwo\n", false},
	} {
		restore, err := tr.plant(&bug{edits: c.edits})
		if got := read(); got != c.planted || (err == nil) != c.fits {
			t.Errorf("%s: planted %q, %v", name, got, err)
		}
		if err := restore(); err != nil || read() != "one\ntwo\n" {
			t.Errorf("%s: put back %q, %v", name, read(), err)
		}
	}
}
