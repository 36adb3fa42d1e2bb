package safetext_test

import (
	"encoding/json"
	"testing"

	"github.com/countersign/countersign/internal/rules/safetext"
)

// TestWhatNobodySeesIsWrittenAsAnEscapeWhereItStands: nothing is left out, and the
// rest stays as it is.
func TestWhatNobodySeesIsWrittenAsAnEscapeWhereItStands(t *testing.T) {
	for given, want := range map[string]string{
		"pays back": "pays back", "Zahlt zurück, 返金, πληρώνει": "Zahlt zurück, 返金, πληρώνει",
		"a\u202eb\u202c\u2066c\u2069\u200fd\u061c": `a\u202eb\u202c\u2066c\u2069\u200fd\u061c`,
		"a\u200bb\u200c\u200d\ufeffc\u00add\u2060": `a\u200bb\u200c\u200d\ufeffc\u00add\u2060`,
		"a\U000E0069b\ufe0fc\u115f":                `a\udb40\udc69b\ufe0fc\u115f`,
		"a\x1b[31mb\x00c\r\n\td\u0085e\u2028f\x7f": `a\u001b[31mb\u0000c\u000d\n\td\u0085e\u2028f\u007f`,
		"a\xffb": "a\uFFFDb",
	} {
		if got := safetext.Escaped(given); got != want {
			t.Errorf("%q became %q; expected %q", given, got, want)
		}
	}
	if got := safetext.EscapedLines("a\n\tb\u202e"); got != "a\n\tb"+`\u202e` {
		t.Errorf("%q", got)
	}
}

func TestJSONWithEscapesIsTheSameJSON(t *testing.T) {
	given := "{\n\t\"a\u202e\": \"b\u200b\U000E0069\u0085 ü\"\r\n}"
	var before, after map[string]string
	if err := json.Unmarshal([]byte(given), &before); err != nil {
		t.Fatal(err)
	}
	shown := safetext.JSON(given)
	if err := json.Unmarshal([]byte(shown), &after); err != nil || after["a\u202e"] != before["a\u202e"] || shown == given {
		t.Errorf("%s became %s: %v", given, shown, err)
	}
}

func TestAValueThatMixesScriptsInAWordOrIsNotNFCIsDoubted(t *testing.T) {
	for given, want := range map[string]string{
		"paypal": "", "zurück": "", "Москва and Berlin": "", "東京タワーへ": "", "서울 漢字": "", "漢字서울": "", "ord-17 №4": "", "5 µm": "",
		"p\u0430ypal":       "mixes scripts", // a Cyrillic a
		"p\u200b\u0430ypal": "mixes scripts",
		"1\u0430b":          "mixes scripts",
		"\u0441om\u0440any": "mixes scripts",
		"zuru\u0308ck":      "not NFC",
		"\u212b":            "not NFC",
		"p\u0430u\u0308":    "mixes scripts, not NFC",
		"ab \u0430\u0431":   "", "ab-\u0430\u0431": "",
	} {
		if got := safetext.Doubt(given); got != want {
			t.Errorf("%q: %q; expected %q", given, got, want)
		}
	}
}

func TestAValueOfOneLineIsEscapedIsolatedAndMarked(t *testing.T) {
	for given, want := range map[string]string{
		"mara@example.com": "mara@example.com", "zurück": "zurück",
		"שלום":          "\u2068שלום\u2069",
		"a\u202eb":      `a\u202eb`,
		"p\u0430y":      "p\u0430y [mixes scripts]",
		"ש\u2069\u202e": "\u2068ש" + `\u2069\u202e` + "\u2069",
	} {
		if got := safetext.Value(given); got != want {
			t.Errorf("%q became %q; expected %q", given, got, want)
		}
	}
}
