// Package docs does what the pages of docs/ say: it runs every command and uses every file, in an empty directory, with
// the binary built from this tree, and checks the output that a page promises.
//
//	go test ./test/docs -run Quick -v          # the quick starts, with their times
//	go test ./test/docs -run Snippets/approve  # one page
package docs

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "countersign-docs-")
	if err == nil {
		sdk = filepath.Join(dir, "sdk")
		err = harness.Build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// quickStarts are the pages that lead a reader from an empty directory to a result.
var quickStarts = []string{"operator", "reviewer", "back-end-developer", "back-end-developer-typescript", "back-end-developer-python", "administrator"}

func TestQuickStarts(t *testing.T) {
	if !ready(t) {
		return
	}
	took := map[string]time.Duration{}
	for _, name := range quickStarts {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			follow(t, "quick-start/"+name+".md")
			took[name] = time.Since(begun)
		})
	}
	for _, name := range quickStarts {
		t.Logf("%-30s %s", name, took[name].Round(10*time.Millisecond))
	}
}

// TestSnippets follows every other page.
func TestSnippets(t *testing.T) {
	if !ready(t) {
		return
	}
	t.Cleanup(func() {
		t.Logf("%d blocks of the pages were not run, each for the reason that it gives", notRun.Load())
	})
	for _, page := range pages(t) {
		if strings.HasPrefix(page, "quick-start/") {
			continue
		}
		t.Run(strings.TrimSuffix(page, ".md"), func(t *testing.T) {
			t.Parallel()
			follow(t, page)
		})
	}
}

// pages are the pages in docs/.
func pages(t *testing.T) []string {
	t.Helper()
	var all []string
	err := fs.WalkDir(os.DirFS(filepath.Join(root, "docs")), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			all = append(all, path)
		}
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	return all
}

// ready reports whether the tools that the pages need are installed.
func ready(t *testing.T) bool {
	t.Helper()
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Logf("NOT RUN: %s is missing; the Makefile's last line says so and fails with CI set", tool)
			return false
		}
	}
	return true
}
