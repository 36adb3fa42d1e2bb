package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	attack   = regexp.MustCompile(`(?m)^\| (\d+) \| (\w+) \| .* \| (.*) \|$`)
	attacker = regexp.MustCompile(`(?m)^\| (\w+) \| [^|]+ \| [^|]+ \|$`)
	shown    = regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+)`")
	declares = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9]+)\(`)
)

// declaredTests are the names of all Go tests of the repository.
func declaredTests(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "node_modules" || name != "." && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(filepath.Join("..", name))
		for _, m := range declares.FindAllStringSubmatch(string(text), -1) {
			all[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Every attack of the threat model is some attacker's that the page knows, and its
// answer is shown by tests that there are.
func TestEveryAttackIsAnsweredByATestThatThereIs(t *testing.T) {
	text, tests := page(t, "threat-model.md"), declaredTests(t)
	known := map[string]bool{}
	_, part, _ := strings.Cut(text, "\n## Attackers\n")
	part, _, _ = strings.Cut(part, "\n## ")
	for _, m := range attacker.FindAllStringSubmatch(part, -1) {
		known[m[1]] = true
	}
	rows := attack.FindAllStringSubmatch(text, -1)
	if len(rows) < 25 {
		t.Errorf("%d attacks, fewer than 25", len(rows))
	}
	for i, row := range rows {
		if row[1] != strconv.Itoa(i+1) {
			t.Errorf("attack %s is the %d.", row[1], i+1)
		}
		if !known[row[2]] {
			t.Errorf("attack %s: there is no attacker %s", row[1], row[2])
		}
		named := shown.FindAllStringSubmatch(row[3], -1)
		if len(named) == 0 {
			t.Errorf("attack %s is shown by nothing", row[1])
		}
		for _, name := range named {
			if !tests[name[1]] {
				t.Errorf("attack %s: there is no %s", row[1], name[1])
			}
		}
	}
}
