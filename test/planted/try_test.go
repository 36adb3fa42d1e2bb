package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/gotest"
)

// toy is a tree with one package, whose sum is checked in two ways: by the package's own test, and through a
// program that a test builds, as tests from outside do. One test always fails.
var toy = map[string]string{
	"go.mod":            "module " + module + "\n\ngo 1.26\n",
	"room/room.go":      "package room\n\nfunc Sum(a, b int) int {\n\treturn a + b\n}\n\nfunc Unwatched() int {\n\treturn 1\n}\n",
	"room/room_test.go": "package room\n\nimport \"testing\"\n\nfunc TestFails(t *testing.T) { t.Error() }\n\nfunc TestSum(t *testing.T) {\n\tif Sum(2, 3) != 5 {\n\t\tt.Error()\n\t}\n}\n\nfunc TestNothing(*testing.T) {}\n",
	"prog/main.go":      "package main\n\nimport \"" + module + "/room\"\n\nfunc main() { println(room.Sum(2, 3)) }\n",
	"outer/outer_test.go": `package outer

import (
	"os"
	"os/exec"
	"testing"
)

func TestMain(m *testing.M) {
	if err := exec.Command("go", "build", "-o", "prog", "../prog").Run(); err != nil {
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestProgram(t *testing.T) {
	out, err := exec.Command("./prog").CombinedOutput()
	if err != nil || string(out) != "5\n" || os.Getenv("` + gotest.ProgramVariable + `") != "" {
		t.Errorf("%s %v", out, err)
	}
}
`,
}

func toySearch(t *testing.T) *search {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &search{tree: tree{dir: filepath.Join(dir, "tree")}, dir: filepath.Join(dir, "bugs"), tiers: []tier{fast}, passing: map[hint]bool{}}
	for name, text := range toy {
		path := filepath.Join(s.tree.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if s.packages, err = s.tree.goPackages(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

var (
	wrongSum  = &bug{name: "wrong-sum", edits: []*edit{{file: "room/room.go", old: "\treturn a + b\n", new: "\treturn a - b\n"}}}
	unwatched = &bug{name: "unwatched", edits: []*edit{{file: "room/room.go", old: "\treturn 1\n", new: "\treturn 2\n"}}}
	broken    = &bug{name: "broken", edits: []*edit{{file: "room/room.go", old: "\treturn 1\n", new: "\treturn one\n"}}}
)

// TestABugIsCaughtByAGreenTestThatItTurnsRed follows bugs through hints and search: what a hint can't show is
// searched, what nothing shows has survived, and what doesn't build is no bug.
func TestABugIsCaughtByAGreenTestThatItTurnsRed(t *testing.T) {
	t.Setenv(gotest.ProgramVariable, "/a/binary/without/the/bug")
	s := toySearch(t)
	inRoom := hint{"fast", check{"room", "TestSum"}}
	fromOutside := hint{"fast", check{"outer", "TestProgram"}}
	for _, c := range []struct {
		name     string
		bug      *bug
		hint     hint
		is, by   string
		searched bool
	}{
		{"a hint", wrongSum, inRoom, caught, "fast: room TestSum", false},
		{"a hint of a test that builds the program", wrongSum, fromOutside, caught, "fast: outer TestProgram", false},
		{"a hint of a test that the bug leaves alone", wrongSum, hint{"fast", check{"room", "TestNothing"}}, caught, "fast: room TestSum", true},
		{"a hint of a test that is gone", wrongSum, hint{"fast", check{"room", "TestGone"}}, caught, "fast: room TestSum", true},
		{"a hint of a test that is red without it", wrongSum, hint{"fast", check{"room", "TestFails"}}, caught, "fast: room TestSum", true},
		{"nothing shows it", unwatched, inRoom, survived, "", false},
		{"it doesn't build", broken, fromOutside, failed, "do not build", false},
	} {
		s.hints = map[string]hint{c.bug.name: c.hint}
		if err := s.confirmHints(t.Context(), []*bug{c.bug}); err != nil {
			t.Fatal(err)
		}
		got := s.try(t.Context(), c.bug)
		if got.Is != c.is || !strings.Contains(got.By, c.by) || (got.found != nil) != c.searched || got.Fast != (c.is == caught) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	if text, err := os.ReadFile(filepath.Join(s.tree.dir, "room", "room.go")); err != nil || string(text) != toy["room/room.go"] {
		t.Errorf("the tree has changed: %s, %v", text, err)
	}
}

func TestABugIsPlantedWholeOrNotAtAll(t *testing.T) {
	s := toySearch(t)
	first, second := wrongSum.edits[0], unwatched.edits[0]
	both, err := s.tree.plant(&bug{edits: []*edit{first, second}}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(both.overlay), "0-room.go"))
	if err != nil || !strings.Contains(string(text), "a - b") || !strings.Contains(string(text), "return 2") {
		t.Errorf("planted %s, %v", text, err)
	}
	if half, err := s.tree.plant(&bug{edits: []*edit{first, first}}, t.TempDir()); err == nil || half.overlay != "" {
		t.Errorf("planted by half: %v, %v", half, err)
	}
}

// TestTheCommandFailsUnlessEnoughBugsAreCaught: 95 % by the fast tier, all by one.
func TestTheCommandFailsUnlessEnoughBugsAreCaught(t *testing.T) {
	for name, c := range map[string]struct {
		tally
		enough bool
	}{
		"all by the fast tier":    {tally{tried: 100, caught: 100, fast: 100}, true},
		"95 of 100":               {tally{tried: 100, caught: 100, fast: 95}, true},
		"94 of 100":               {tally{tried: 100, caught: 100, fast: 94}, false},
		"one by none":             {tally{tried: 100, caught: 99, fast: 99, survived: 1}, false},
		"of one nothing is known": {tally{tried: 100, caught: 99, fast: 99, failed: 1}, false},
		"one has not been tried":  {tally{tried: 99, caught: 99, fast: 99}, false},
	} {
		if err := c.judge(100, false); (err == nil) != c.enough {
			t.Errorf("%s: %v", name, err)
		}
	}
}
