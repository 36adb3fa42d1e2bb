package harness

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// tried are the commands that succeeded in a test.
var tried struct {
	mu    sync.Mutex
	lines []string
}

// refusals are the exit statuses of commands that did nothing.
var refusals = []int{2, 3, 4}

func noteCommand(status int, args []string) {
	if !slices.Contains(refusals, status) && !slices.Contains(args, "--help") {
		tried.mu.Lock()
		defer tried.mu.Unlock()
		tried.lines = append(tried.lines, strings.Join(args, " ")+" ")
	}
}

// Untried lists the client commands of docs/command-line.md that succeeded in no test.
func Untried() []string {
	text, err := os.ReadFile(filepath.Join(sourceRoot(), "docs", "command-line.md"))
	if err != nil {
		return []string{err.Error()}
	}
	_, part, _ := strings.Cut(string(text), "\n## Client commands\n")
	part, _, _ = strings.Cut(part, "\n## ")
	var out []string
	for line := range strings.Lines(part) {
		if name, is := strings.CutPrefix(strings.TrimSpace(line), "### "); is && !slices.ContainsFunc(tried.lines, func(l string) bool { return strings.HasPrefix(l, name+" ") }) {
			out = append(out, name)
		}
	}
	return out
}
