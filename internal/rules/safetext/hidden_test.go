package safetext_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"

	"github.com/countersign/countersign/internal/rules/safetext"
)

// letters are what text is written with.
var letters = []*unicode.RangeTable{unicode.L, unicode.M, unicode.N, unicode.P, unicode.S}

// drawnAsNothing are letters, marks and symbols without a glyph, besides those that
// Unicode itself calls ignorable.
const drawnAsNothing = "\u2800\ufffc\U00013441\U00013442\U00016FE4\U0001D159"

// shows reports whether a reader sees the character, as Unicode's tables have it.
func shows(r rune) bool {
	ignorable := unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) || strings.ContainsRune(drawnAsNothing, r)
	return r == ' ' || unicode.In(r, letters...) && !ignorable
}

// TestEveryCodePointIsSeenOrWrittenAsItsEscape goes through all of Unicode.
func TestEveryCodePointIsSeenOrWrittenAsItsEscape(t *testing.T) {
	for from := rune(0x20); from <= unicode.MaxRune; from += 0x20 {
		if from >= 0xd800 && from < 0xe000 {
			continue // no characters, and not in any UTF-8
		}
		if at := from & 0xffff; testing.Short() && (from >= 0x40000 && from < 0xe0000 || from >= 0xf0000) && at >= 0x100 && at < 0xff00 {
			continue // planes alike throughout: nothing is assigned there, or all is private
		}
		var given, want, seen strings.Builder
		for r := from; r < from+0x20; r++ {
			given.WriteRune(r)
			switch {
			case shows(r):
				want.WriteRune(r)
				seen.WriteRune(r)
			case r > 0xffff:
				high, low := utf16.EncodeRune(r)
				fmt.Fprintf(&want, `\u%04x\u%04x`, high, low)
			default:
				fmt.Fprintf(&want, `\u%04x`, r)
			}
		}
		if got := safetext.Escaped(given.String()); got != want.String() {
			t.Fatalf("%U and what follows became %q; expected %q", from, got, want.String())
		}
		if got := strings.ReplaceAll(safetext.Text(given.String()), " ", ""); got != strings.ReplaceAll(seen.String(), " ", "") {
			t.Fatalf("%U and what follows became %q; expected %q", from, got, seen.String())
		}
	}
}

// TestNamedCharactersThatNobodySeesAreEscaped: those that a reader was shown as they are.
func TestNamedCharactersThatNobodySeesAreEscaped(t *testing.T) {
	for _, r := range "\u00a0\u00ad\u034f\u115f\u1160\u1680\u17b4\u180b\u2000\u200a\u2028\u2029\u202f\u205f\u2800\u3000\u3164\ufdd0\ufe0f\uffa0\ufff9\ufffc\ufffe\uffff\ue000\u0378" {
		if got, want := safetext.Escaped(string(r)), fmt.Sprintf(`\u%04x`, r); got != want {
			t.Errorf("%U became %q; expected %q", r, got, want)
		}
	}
	for r, want := range map[rune]string{
		0x16fe4: `\ud81b\udfe4`, 0x1d159: `\ud834\udd59`, 0xe0041: `\udb40\udc41`, 0xe01ef: `\udb40\uddef`, 0xf0000: `\udb80\udc00`, 0x10ffff: `\udbff\udfff`, 0x1fffe: `\ud83f\udffe`,
	} {
		if got := safetext.Escaped(string(r)); got != want {
			t.Errorf("%U became %q; expected %q", r, got, want)
		}
	}
}

func TestTextOfEveryLanguageStaysReadable(t *testing.T) {
	for _, s := range []string{"مَرْحَبًا بِكَ", "नमस्ते दुनिया", "வணக்கம்", "สวัสดีครับ", "မင်္ဂလာပါ", "សួស្តី", "日本語のテスト", "안녕하세요", "שָׁלוֹם", "Đặng Thị", "e\u0301", "5 € – 3½ %, “so”…", "💶👍🏽🇩🇪"} {
		if got := safetext.Escaped(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func TestTextWithNothingToSeeIsBlank(t *testing.T) {
	for _, s := range []string{"", " ", "\t\r\n", "\u00a0\u3000", "\u200b", "\u2800", "\u3164\u115f\u1160\uffa0", "\u00ad", "\u202e\u202c", "\U0001D159 \U00016FE4", "\ufeff\u2060", "\ue000\ufdd0", "\u0301", "\ufe0f\U000E0041", "\x00\x1b"} {
		if !safetext.Blank(s) {
			t.Errorf("%q isn't blank", s)
		}
	}
	for _, s := range []string{"a", ".", " ok ", "\u200bfine\u200b", "返金", "✓", "👍", "\uFFFD", "é", "e\u0301"} {
		if safetext.Blank(s) {
			t.Errorf("%q is blank", s)
		}
	}
}

// TestAnUnusualSpaceEndsAWord: two words of two scripts are no doubt.
func TestAnUnusualSpaceEndsAWord(t *testing.T) {
	if got := safetext.Doubt("Berlin\u00a0\u041c\u043e\u0441\u043a\u0432\u0430"); got != "" {
		t.Error(got)
	}
}
