package words

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

func TestSpelledJSONIsTheSameJSON(t *testing.T) {
	text := string([]rune{'"', 0x9b, 0x202e, 0x200b, 0xfeff, 'a', '"'})
	if got := Spelled(text); got != `"\u009b\u202e\u200b\ufeffa"` || countersign.RawValue(got).Text() != countersign.RawValue(text).Text() {
		t.Errorf("%q", got)
	}
	if got := Plain("a\x1b[2J\nb\tc\u202ed"); strings.ContainsAny(got, "\x1b\n\t\u202e") {
		t.Errorf("%q", got)
	}
}

// TestTextOfOthersIsMarkedOnATerminal: untrusted text is shown in full.
func TestTextOfOthersIsMarkedOnATerminal(t *testing.T) {
	for given, want := range map[string]string{
		"a\u202eb":   `a\u202eb`,
		"p\u0430y":   "p\u0430y [mixes scripts: “\u0430” is Cyrillic (U+0430), looks like a]",
		"ord 5":      "ord 5",
		"\x1b[2Jx\n": `\u001b[2Jx\n`,
	} {
		if got := Plain(given); got != want {
			t.Errorf("%q became %q, expected %q", given, got, want)
		}
	}
	if got := Doubted(`{"a":"p` + "\u0430" + `y\"","b":["ü",1],"c\\":"u` + "\u0308" + `"}`); got != `{"a":"p`+"\u0430"+`y\"" [mixes scripts: “`+"\u0430"+`” is Cyrillic (U+0430), looks like a],"b":["ü",1],"c\\":"u`+"\u0308"+`" [not NFC]}` {
		t.Error(got)
	}
}
