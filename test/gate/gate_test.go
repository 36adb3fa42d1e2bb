package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

const events = `
{"Action":"start","Package":"github.com/countersign/countersign/internal/run"}
{"Action":"run","Package":"github.com/countersign/countersign/internal/run","Test":"TestA"}
{"Action":"output","Package":"github.com/countersign/countersign/internal/run","Test":"TestA/one","Output":"why it failed\n"}
{"Action":"fail","Package":"github.com/countersign/countersign/internal/run","Test":"TestA/one"}
{"Action":"skip","Package":"github.com/countersign/countersign/internal/run","Test":"TestA/two"}
{"Action":"fail","Package":"github.com/countersign/countersign/internal/run","Test":"TestA"}
{"Action":"output","Package":"github.com/countersign/countersign/internal/run","Test":"TestB","Output":"--- PASS\n"}
{"Action":"pass","Package":"github.com/countersign/countersign/internal/run","Test":"TestB"}
{"Action":"output","Package":"github.com/countersign/countersign/internal/run","Output":"FAIL\n"}
{"Action":"fail","Package":"github.com/countersign/countersign/internal/run"}
{"ImportPath":"github.com/countersign/countersign/internal/plan","Action":"build-output","Output":"undefined: x\n"}
{"ImportPath":"github.com/countersign/countersign/internal/plan","Action":"build-fail"}
`

// told are the outcomes of the events, a line each.
func told(t *testing.T, text string) (out []string) {
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

func TestEachOutcomeIsToldOnceAndAFailureWithItsOutput(t *testing.T) {
	want := []string{
		"skip|internal/run|TestA/two|",
		"fail|internal/run|TestA|why it failed",
		"pass|internal/run|TestB|",
		"fail|internal/run||", // its test has told
		"fail|internal/plan||undefined: x",
	}
	if got := told(t, events); !slices.Equal(got, want) {
		t.Errorf("told %q\nwant %q", got, want)
	}
}

// A package may fail with no test to blame: its TestMain found a secret, say.
func TestAPackageThatFailsByItselfIsAFailure(t *testing.T) {
	text := `{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"a secret is in the log\n"}
{"Action":"fail","Package":"p"}`
	if got := told(t, text); !slices.Contains(got, "fail|p||a secret is in the log") {
		t.Errorf("told %q", got)
	}
	g := newGate(&record{})
	g.out = io.Discard
	for _, o := range []outcome{{Package: "p", action: "fail"}, {Package: "p", Test: "TestA", action: "fail"}} {
		g.tell(part{packages: "./p"}, o)
	}
	if g.count["fail"] != 1 {
		t.Errorf("a test and its package are %d failures", g.count["fail"])
	}
}

func TestAFailureIsRepeatedByOneCommand(t *testing.T) {
	p := part{flags: "-short -gcflags=modernc.org/...=-race=false", packages: "./internal/...", args: "-run A|B -postgres"}
	for test, want := range map[string]string{
		"TestA": "go test -vet=off -timeout=60m -short -gcflags=modernc.org/...=-race=false -count=1 -v -run '^TestA$' ./internal/run -postgres",
		"":      "go test -vet=off -timeout=60m -short -gcflags=modernc.org/...=-race=false -count=1 -v ./internal/run -run 'A|B' -postgres",
	} {
		if got := p.repeat(outcome{Package: module + "/internal/run", Test: test}); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// Landings are far fewer than hashes, so each part must follow from some of them.
func TestSlicesOfSomeDaysPlayEveryPart(t *testing.T) {
	played := map[string]bool{}
	for landing := range 100 {
		for _, p := range slice(full, fmt.Sprintf("%040x", landing*landing), 7*time.Minute) {
			played[p.name] = true
		}
	}
	for _, p := range full {
		if !played[p.name] {
			t.Errorf("100 landings don't play %s", p.name)
		}
	}
}

func TestASliceKeepsToItsTimeAndHasAPart(t *testing.T) {
	parts := []part{{name: "a", estimate: 2 * time.Minute}, {name: "b", estimate: 2 * time.Minute}, {name: "c", estimate: 2 * time.Minute}}
	for within, want := range map[time.Duration]int{0: 1, time.Minute: 1, 4 * time.Minute: 2, 5 * time.Minute: 2, time.Hour: 3} {
		if got := slice(parts, "commit", within); len(got) != want {
			t.Errorf("%d parts in %s", len(got), within)
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

// Whatever package somebody adds, a change must pass its tests, under the race
// detector, and the full tier has it in full.
func TestEveryPackageIsInBothTiers(t *testing.T) {
	t.Chdir("../..")
	all, err := part{packages: "./..."}.list(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for tier, parts := range map[string][]part{"fast": fast, "full": full} {
		covered := map[string]bool{}
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
			}
			if tier == "fast" && !strings.Contains(p.flags, "-race") {
				t.Errorf("%s: without the race detector", p.name)
			}
		}
		for _, name := range all {
			if !covered[name] {
				t.Errorf("%s is in no part of the %s tier", name, tier)
			}
		}
	}
}

func TestARecordIsOfItsTree(t *testing.T) {
	t.Chdir(t.TempDir())
	git := func(args ...string) {
		t.Helper()
		args = append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git: %v\n%s", err, out)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	left := func() int {
		t.Helper()
		r, err := readRecord(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(r.without([]part{{name: "power"}, {name: "kill"}}))
	}
	git("init", "-q")
	write(".gitignore", "/bin/\n")
	git("add", ".")
	git("commit", "-q", "-m", "one")
	write("new.go", "package a")
	r, err := readRecord(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.add("power")
	if err := r.write(); err != nil {
		t.Fatal(err)
	}
	if n := left(); n != 1 {
		t.Errorf("the same tree: %d parts are left", n)
	}
	write("new.go", "package b")
	if n := left(); n != 2 {
		t.Errorf("an untracked file changed: %d parts are left", n)
	}
	write("new.go", "package a")
	git("commit", "-q", "--allow-empty", "-m", "two")
	if n := left(); n != 2 {
		t.Errorf("another commit: %d parts are left", n)
	}
}
