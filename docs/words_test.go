package docs_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	// writtenByTests are the parts of pages that a test writes from the program.
	writtenByTests = regexp.MustCompile(`(?s)<!-- (?:settings|diagram|moves): written by .*?<!-- end of (?:settings|diagram|moves) -->`)
	// reference are pages that nobody reads from their beginning to their end.
	reference = map[string]bool{"docs/api.md": true, "docs/reference/errors.md": true, "docs/command-line.md": true}
)

// TestTheManualStaysShort: a newcomer once met a hundred thousand words that contradicted each
// other. Say a fact on one page and link it; what was once otherwise is in the history.
func TestTheManualStaysShort(t *testing.T) {
	const most = 70_000
	words := 0
	for name, text := range markdown(t) {
		if reference[name] || name != "README.md" && !strings.HasPrefix(name, "docs/") {
			continue
		}
		for _, word := range strings.Fields(writtenByTests.ReplaceAllString(text, "")) {
			if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
				words++
			}
		}
	}
	t.Logf("%d words", words)
	if words > most {
		t.Errorf("the manual has %d words, more than %d", words, most)
	}
}
