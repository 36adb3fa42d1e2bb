package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// hintsFile lists the test that caught each bug in the last search.
const hintsFile = "test/planted/caught.txt"

const hintsHead = `# Which test caught each planted bug when it was searched last, and in which tier:
# fast is ` + "`make test`" + `, fast-race what only its race detector saw, full is ` + "`make test-all`" + `.
# The test is tried first; what it no longer catches is searched anew.
# Written by: make planted PLANTED_FLAGS=-update
`

// hint is the test that caught a bug, and its tier.
type hint struct {
	tier string
	check
}

func (h hint) call() call {
	t, err := tierNamed(h.tier)
	if err != nil {
		panic(err) // parseHints has checked the tier
	}
	return h.check.call(t)
}

func readHints(root string) (map[string]hint, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(hintsFile)))
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]hint{}, nil
	}
	if err != nil {
		return nil, err
	}
	return parseHints(string(text))
}

// parseHints parses lines of bug, tier, package and test. A line without a test means that the package failed
// as a whole.
func parseHints(text string) (map[string]hint, error) {
	out := map[string]hint{}
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if len(words) != 3 && len(words) != 4 {
			return nil, fmt.Errorf("%s:%d: expected bug, tier, package and test, not %q", hintsFile, i+1, line)
		}
		if _, err := tierNamed(words[1]); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", hintsFile, i+1, err)
		}
		h := hint{tier: words[1], check: check{Package: words[2]}}
		if len(words) == 4 {
			h.Test = words[3]
		}
		out[words[0]] = h
	}
	return out, nil
}

// formatHints writes the hints in the order of the bugs, without those of removed bugs.
func formatHints(bugs []*bug, hints map[string]hint) string {
	out := hintsHead
	for _, b := range bugs {
		if h, ok := hints[b.name]; ok {
			out += hintLine(b, h)
		}
	}
	return out
}

func hintLine(b *bug, h hint) string { return b.name + " " + h.tier + " " + h.String() + "\n" }

func writeHints(root string, bugs []*bug, hints map[string]hint) error {
	return os.WriteFile(filepath.Join(root, filepath.FromSlash(hintsFile)), []byte(formatHints(bugs, hints)), 0o644)
}
