package safetext_test

import (
	"testing"

	"github.com/countersign/countersign/internal/rules/safetext"
)

// TestWhatNobodySeesIsLeftOut: direction marks, zero-width characters, tags and
// variation selectors, in which a text can be carried that only a machine reads.
func TestWhatNobodySeesIsLeftOut(t *testing.T) {
	for given, want := range map[string]string{
		"pays back": "pays back",
		"Zahlt zurück, 返金, πληρώνει":              "Zahlt zurück, 返金, πληρώνει",
		"a\u202eb\u202c\u2066c\u2069\u200fd":      "abcd",
		"a\u200bb\ufeffc\u00add\u2060e\u115ff":    "abcdef",
		"a\U000E0069\U000E0067b\U000E01EFc\ufe0f": "abc",
		"a\x1b[31mb\x00c\r\nd\u0085e\u2028f":      "a [31mb c  d e f",
		"a\xffb":                                  "a\uFFFDb",
	} {
		if got := safetext.Text(given); got != want {
			t.Errorf("%q became %q; expected %q", given, got, want)
		}
	}
}
