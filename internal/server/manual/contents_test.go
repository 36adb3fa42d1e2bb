package manual_test

import (
	"strings"
	"testing"
)

// TestAPageOfManySectionsListsThem, and one of few doesn't.
func TestAPageOfManySectionsListsThem(t *testing.T) {
	m := newManual(t, map[string]string{"few.md": "# Few\n\n## A\n\n## B\n\n## C\n", "many.md": "# Many\n\n## First & last\n\n### Below\n\n## B\n\n## B\n\n## `d`\n"})
	many := get(t, m, "/docs/many")
	wantAll(t, many, `aria-label="On this page"`, `<a href="#first--last">First &amp; last</a>`, `<a href="#b">B</a>`, `<a href="#b-1">B</a>`, `<a href="#d">d</a>`)
	if strings.Contains(many, `href="#below"`) || strings.Contains(get(t, m, "/docs/few"), "On this page") {
		t.Error("sections of sections, or of a short page, are listed")
	}
}
