package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/test/gotest"
)

const events = `
{"Action":"start","Package":"github.com/countersign/countersign/internal/rules/run"}
{"Action":"run","Package":"github.com/countersign/countersign/internal/rules/run","Test":"TestA"}
{"Action":"output","Package":"github.com/countersign/countersign/internal/rules/run","Test":"TestA/one","Output":"why it failed\n"}
{"Action":"fail","Package":"github.com/countersign/countersign/internal/rules/run","Test":"TestA/one"}
{"Action":"skip","Package":"github.com/countersign/countersign/internal/rules/run","Test":"TestA/two"}
{"Action":"fail","Package":"github.com/countersign/countersign/internal/rules/run","Test":"TestA"}
{"Action":"output","Package":"github.com/countersign/countersign/internal/rules/run","Test":"TestB","Output":"--- PASS\n"}
{"Action":"pass","Package":"github.com/countersign/countersign/internal/rules/run","Test":"TestB"}
{"Action":"output","Package":"github.com/countersign/countersign/internal/rules/run","Output":"FAIL\n"}
{"Action":"fail","Package":"github.com/countersign/countersign/internal/rules/run"}
{"ImportPath":"github.com/countersign/countersign/internal/rules/plan","Action":"build-output","Output":"undefined: x\n"}
{"ImportPath":"github.com/countersign/countersign/internal/rules/plan","Action":"build-fail"}
{"Action":"output","Package":"github.com/countersign/countersign/internal/rules/plan","Output":"FAIL [build failed]\n"}
{"Action":"fail","Package":"github.com/countersign/countersign/internal/rules/plan","FailedBuild":"github.com/countersign/countersign/internal/rules/plan"}
`

// reported are the outcomes of the events, one a line.
func reported(t *testing.T, text string) (out []string) {
	t.Helper()
	err := newReader(func(o outcome) {
		line := strings.Join([]string{o.action, strings.TrimPrefix(o.Package, module+"/"), o.Test, strings.TrimSpace(o.output)}, "|")
		out = append(out, line)
	}).read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEachOutcomeIsReportedOnceAndAFailureWithItsOutput(t *testing.T) {
	want := []string{
		"skip|internal/rules/run|TestA/two|",
		"fail|internal/rules/run|TestA|why it failed",
		"pass|internal/rules/run|TestB|",
		"fail|internal/rules/run||", // its failed test was reported
		"fail|internal/rules/plan||undefined: x",
		"fail|internal/rules/plan||",
	}
	if got := reported(t, events); !slices.Equal(got, want) {
		t.Errorf("reported %q\nwant %q", got, want)
	}
}

// TestAPackageThatFailsByItselfIsAFailure: for example its TestMain found a secret.
func TestAPackageThatFailsByItselfIsAFailure(t *testing.T) {
	text := `{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"a secret is in the log\n"}
{"Action":"fail","Package":"p"}`
	if got := reported(t, text); !slices.Contains(got, "fail|p||a secret is in the log") {
		t.Errorf("reported %q", got)
	}
	g := newGate(&gotest.Record[bool]{})
	g.out = io.Discard
	for _, o := range []outcome{{Package: "p", action: "fail"}, {Package: "p", Test: "TestA", action: "fail"}} {
		g.report(part{packages: "./p"}, o)
	}
	if g.count["fail"] != 1 {
		t.Errorf("a test and its package are %d failures", g.count["fail"])
	}
}

// TestATestThatHangsIsNamedWithWhatItSaid: its package fails, and it has no outcome.
func TestATestThatHangsIsNamedWithWhatItSaid(t *testing.T) {
	text := `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestB","Output":"panic: test timed out after 30m0s\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"goroutine 7 [select, 29 minutes]:\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t1800s\n"}
{"Action":"fail","Package":"p"}`
	want := "fail|p||FAIL\tp\t1800s\nnever ended: TestB\npanic: test timed out after 30m0s\ngoroutine 7 [select, 29 minutes]:"
	if got := reported(t, text); !slices.Contains(got, want) {
		t.Errorf("reported %q", got)
	}
}

func TestAFailureIsRepeatedByOneCommand(t *testing.T) {
	p := part{flags: "-short -gcflags=modernc.org/...=-race=false", packages: "./internal/...", args: "-run A|B -postgres"}
	for test, want := range map[string]string{
		"TestA": "go test -vet=off -timeout=" + hanging + " -short -gcflags=modernc.org/...=-race=false -count=1 -v -run '^TestA$' ./internal/rules/run -postgres",
		"":      "go test -vet=off -timeout=" + hanging + " -short -gcflags=modernc.org/...=-race=false -count=1 -v ./internal/rules/run -run 'A|B' -postgres",
	} {
		if got := p.repeat(outcome{Package: module + "/internal/rules/run", Test: test}); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// TestAPartThatIsNotReadyFails: without what its preparation makes, its commands prove nothing.
func TestAPartThatIsNotReadyFails(t *testing.T) {
	t.Chdir(t.TempDir())
	g := newGate(&gotest.Record[bool]{Results: map[string]bool{}})
	g.out = io.Discard
	parts := []part{
		{name: "unready", prepare: "false", commands: []string{"true"}}, {name: "ready", prepare: "touch made", commands: []string{"test -e made"}},
		{name: "not compiled", compiles: "false", commands: []string{"true"}}, {name: "compiled", compiles: "touch built", commands: []string{"test -e built"}},
	}
	g.prepare(t.Context(), parts)
	g.compile(t.Context(), parts)
	for _, p := range parts {
		g.runPart(t.Context(), p)
	}
	if p := g.passed.Results; p["unready"] || p["not compiled"] || !p["ready"] || !p["compiled"] || g.count["fail"] != 2 {
		t.Errorf("passed: %v, %d failures", g.passed.Results, g.count["fail"])
	}
}

// TestSlicesOfSomeDaysRunEveryPart: there are far fewer landings than hashes, so each part must be chosen
// by some of them.
func TestSlicesOfSomeDaysRunEveryPart(t *testing.T) {
	const landings = 150 // some three for each part
	ran := map[string]bool{}
	for landing := range landings {
		for _, p := range slice(full, fmt.Sprintf("%040x", landing*landing), 7*time.Minute) {
			ran[p.name] = true
		}
	}
	for _, p := range full {
		if !ran[p.name] {
			t.Errorf("%d landings don't run %s", landings, p.name)
		}
	}
}

func TestASliceHasThePartsThatFitIntoItsTime(t *testing.T) {
	parts := []part{{name: "a", estimate: 2 * time.Minute}, {name: "b", estimate: 5 * time.Minute}, {name: "c", estimate: 2 * time.Minute}}
	for _, within := range []time.Duration{0, time.Minute, 4 * time.Minute, 5 * time.Minute, 7 * time.Minute, time.Hour} {
		for commit := range 20 {
			left, chosen := within, map[string]bool{}
			for _, p := range slice(parts, fmt.Sprint(commit), within) {
				left, chosen[p.name] = left-p.estimate, true
			}
			for _, p := range parts {
				if left < 0 || !chosen[p.name] && p.estimate <= left {
					t.Errorf("of %s, %s is left without %s", within, left, p.name)
				}
			}
		}
	}
}

func TestPartsHaveNamesOfTheirOwn(t *testing.T) {
	for _, tier := range [][]part{fast, full} {
		seen := map[string]bool{}
		for _, p := range tier {
			if seen[p.name] || p.name == "" || p.guards == "" || p.estimate == 0 {
				t.Errorf("%q: a second one, or without a name, what it guards or how long it takes", p.name)
			}
			seen[p.name] = true
		}
	}
	if _, err := named([]string{"vet", "nothing"}); err == nil {
		t.Error("an unknown part is taken")
	}
}

// TestEveryPackageIsInBothTiers: a change must pass the tests of every package, also of a new one, and the
// full tier runs them in full. They run under the race detector; in the fast tier not the tests from
// outside, nor those without goroutines.
func TestEveryPackageIsInBothTiers(t *testing.T) {
	t.Chdir("../..")
	all, err := part{packages: "./..."}.list(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for tier, parts := range map[string][]part{"fast": fast, "full": full} {
		covered, raced := map[string]bool{}, map[string]bool{}
		for _, p := range parts {
			if p.packages == "" || strings.Contains(p.args, "-postgres") || strings.Contains(p.flags, "-run") {
				continue
			}
			packages, err := p.list(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range packages {
				covered[name] = true
				raced[name] = raced[name] || strings.Contains(p.flags, race)
			}
		}
		for _, name := range all {
			if !covered[name] {
				t.Errorf("%s is in no part of the %s tier", name, tier)
			}
			fromOutside := strings.HasPrefix(name, "./test") || strings.HasPrefix(name, "./cmd/")
			unraced := tier == "fast" && (fromOutside || name == "." || slices.Contains(gotest.Pure, strings.TrimPrefix(name, "./internal/")))
			if !raced[name] && !unraced && !strings.HasPrefix(name, "./test") {
				t.Errorf("%s is without the race detector in the %s tier", name, tier)
			}
		}
	}
}

// TestNothingIsVettedTwice: vet has a part of its own, and in other modules a command; a `go test` that vets too
// analyzes every dependency once more, with other analyzers.
func TestNothingIsVettedTwice(t *testing.T) {
	for _, p := range everyPart() {
		for _, line := range append(p.commands, strings.Join(p.goTest(nil), " ")) {
			for call := range strings.SplitSeq(line, "&&") {
				if strings.Contains(call, "go test") && !strings.Contains(call, "-vet=off") {
					t.Errorf("%s: %s", p.name, call)
				}
			}
		}
	}
}

func TestPackagesThatTakeLongBeginFirst(t *testing.T) {
	t.Chdir("../..")
	p := part{packages: "./internal/rules/...", long: "./internal/rules/run ./internal/rules/model"}
	got, err := p.list(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got[0] != "./internal/rules/run" || got[1] != "./internal/rules/model" || slices.Contains(got[2:], "./internal/rules/run") || !slices.Contains(got, "./internal/rules/plan") {
		t.Errorf("%q", got)
	}
	p.long = "./internal/storage/sqlite"
	if _, err := p.list(t.Context()); err == nil {
		t.Error("a package that the part doesn't have is said to take long")
	}
}

func TestPackagesBeginInTheOrderOfTheirPatterns(t *testing.T) {
	t.Chdir("../..")
	got, err := part{packages: "./internal/rules/run ./internal/... -./internal/storage/..."}.list(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got[0] != "./internal/rules/run" || slices.Contains(got[1:], "./internal/rules/run") || slices.Contains(got, "./internal/storage/sqlite") || !slices.Contains(got, "./internal/rules/plan") {
		t.Errorf("%q", got)
	}
}
