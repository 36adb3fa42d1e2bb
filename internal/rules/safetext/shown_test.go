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

func TestAValueThatIsNotWhatItLooksLikeIsDoubted(t *testing.T) {
	const a = "“а” is Cyrillic (U+0430), looks like a"
	for given, want := range map[string]string{
		"paypal": "", "zurück": "", "Москва and Berlin": "", "東京タワーへ": "", "서울 漢字": "", "漢字서울": "", "ord-17 №4": "", "5 µm": "", "Αθήνα": "", "квартира А-12": "",
		"p\u0430ypal":                          "mixes scripts: " + a,
		"p\u200b\u0430ypal":                    "mixes scripts: " + a,
		"1\u0430b":                             "mixes scripts: " + a,
		"\u0441om\u0440any":                    "mixes scripts: “с” is Cyrillic (U+0441), looks like c",
		"zuru\u0308ck":                         "not NFC",
		"\u212b":                               "not NFC",
		"p\u0430u\u0308":                       "mixes scripts: " + a + ", not NFC",
		"ab \u0430\u0431":                      "",
		"ab-\u0430\u0431":                      "mixes scripts: " + a, // an identifier is one word
		"ab-жд":                                "mixes scripts: “ж” is Cyrillic (U+0436)",
		"\u0410-48213":                         "“А” is Cyrillic (U+0410), looks like A",
		"A-90211-\u0410\u0412\u0421":           "mixes scripts: “А” is Cyrillic (U+0410), looks like A",
		"\u0430\u0440\u0440\u04cf\u0435-1":     "“а” is Cyrillic (U+0430), looks like a",
		`{"city":"Москва"}`:                    "",
		"Refund \u0410-48213 for 5 €":          "“А” is Cyrillic (U+0410), looks like A",
		"\u0391-1":                             "“Α” is Greek (U+0391), looks like A",
		"4821\u0417":                           "“З” is Cyrillic (U+0417), looks like 3",
		"\uff21-48213":                         "“Ａ” is no ASCII (U+FF21), looks like A",
		"\U0001d400-1":                         "“𝐀” is no ASCII (U+1D400), looks like A",
		"株式会社\uff21\uff22":                     "mixes scripts: “Ａ” is no ASCII (U+FF21), looks like A",
		"\u0627-1":                             "“\u2068ا\u2069” is Arabic (U+0627), looks like l",
		"ıssız kadın":                          "", // Turkish is Latin
		"\u041c\u043e\u0441\u043a\u0432\u0430": "",
	} {
		if got := safetext.Doubt(given); got != want {
			t.Errorf("%q: %q; expected %q", given, got, want)
		}
	}
}

// TestEachTextOfAJSONDocumentIsDoubtedByItself: what stands beside it doesn't make it a word.
func TestEachTextOfAJSONDocumentIsDoubtedByItself(t *testing.T) {
	for given, want := range map[string]string{
		`{"city":"Москва","n":1}`:           "",
		`{"id":"\u0410-1","city":"Москва"}`: "“А” is Cyrillic (U+0410), looks like A",
		`{"p\u0430y":[1.0]}`:                "mixes scripts: “а” is Cyrillic (U+0430), looks like a",
		"POST https://x/\u0430":             "“а” is Cyrillic (U+0430), looks like a",
		"12":                                "",
	} {
		if got := safetext.DoubtJSON(given); got != want {
			t.Errorf("%q: %q; expected %q", given, got, want)
		}
	}
}

func TestAValueOfOneLineIsEscapedIsolatedAndMarked(t *testing.T) {
	for given, want := range map[string]string{
		"mara@example.com": "mara@example.com", "zurück": "zurück",
		"שלום":          "\u2068שלום\u2069",
		"a\u202eb":      `a\u202eb`,
		"p\u0430y":      "p\u0430y [mixes scripts: “а” is Cyrillic (U+0430), looks like a]",
		"ש\u2069\u202e": "\u2068ש" + `\u2069\u202e` + "\u2069",
	} {
		if got := safetext.Value(given); got != want {
			t.Errorf("%q became %q; expected %q", given, got, want)
		}
	}
}
