package main

import (
	"strings"
	"testing"
)

// TestEndOfTheTests reads what `go test -json` prints.
func TestEndOfTheTests(t *testing.T) {
	const passed = `{"Action":"pass","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"pass","Package":"p"}` + "\n"
	const begun = `{"Action":"run","Package":"q","Test":"TestB"}` + "\n" + `{"Action":"run","Package":"q","Test":"TestB/one"}` + "\n"
	for name, c := range map[string]struct {
		out, by string
		known   bool
	}{
		"all pass":             {passed, "", true},
		"a test fails":         {passed + `{"Action":"fail","Package":"q","Test":"TestB/one"}` + "\n", "q TestB", true},
		"a package fails":      {`{"Action":"fail","Package":"q"}` + "\n", "q", true},
		"the root fails":       {`{"Action":"fail","Package":"` + module + `","Test":"TestB"}` + "\n", ". TestB", true},
		"a folder fails":       {`{"Action":"fail","Package":"` + module + `/internal/rules/run","Test":"TestB"}` + "\n", "internal/rules/run TestB", true},
		"a test ends all":      {begun + `{"Action":"fail","Package":"q"}` + "\n", "q TestB", true},
		"one of two ends all":  {begun + `{"Action":"run","Package":"q","Test":"TestC"}` + "\n" + `{"Action":"fail","Package":"q"}` + "\n", "q", true},
		"a test hangs":         {`{"Action":"output","Package":"q","Output":"panic: test timed out after 15m0s\n"}` + "\n" + `{"Action":"fail","Package":"q","Test":"TestB"}` + "\n", "q TestB (timeout)", true},
		"tests don't build":    {`{"Action":"build-fail","ImportPath":"q"}` + "\n" + `{"Action":"fail","Package":"q","FailedBuild":"q"}` + "\n", "", false},
		"a package can't be":   {`{"Action":"fail","Package":"q","FailedBuild":"q"}` + "\n", "", false},
		"a program prints":     {"no JSON\n" + passed, "", true},
		"the first one counts": {`{"Action":"fail","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"fail","Package":"q"}` + "\n", "p TestA", true},
	} {
		for _, toTheEnd := range []bool{false, true} {
			seen, err := watch(strings.NewReader(c.out), toTheEnd)
			by := ""
			if seen.failed != nil {
				by = seen.failed.String()
			}
			if by != c.by || (err == nil) != c.known {
				t.Errorf("%s: %q, %v", name, by, err)
			}
		}
	}
}

func TestOnlyATestThatEndedWellHasPassed(t *testing.T) {
	seen, err := watch(strings.NewReader(`{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"pass","Package":"p","Test":"TestC/one"}
{"Action":"pass","Package":"p","Test":"TestD"}
`), true)
	if err != nil || len(seen.passed) != 1 || !seen.passed[check{"p", "TestD"}] {
		t.Errorf("passed: %v, %v", seen.passed, err)
	}
}
