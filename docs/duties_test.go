package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEachTestThatADutyRestsOnIsThere: whoever renames or removes one changes the page of duties.
func TestEachTestThatADutyRestsOnIsThere(t *testing.T) {
	page, err := os.ReadFile("duties.md")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, dir := range []string{"../test", "../cmd"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			all.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	named := regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(string(page), -1)
	if len(named) < 15 {
		t.Errorf("the page names %d tests", len(named))
	}
	for _, n := range named {
		if !strings.Contains(all.String(), "func "+n[1]+"(") {
			t.Errorf("there is no test %s", n[1])
		}
	}
	for _, row := range strings.Split(string(page), "\n") {
		if strings.HasPrefix(row, "| ") && strings.Count(row, "|") > 3 && !strings.Contains(row, "`Test") && !strings.Contains(row, "Test |") {
			t.Errorf("no test stands beside %q", row)
		}
	}
}
