package access

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/countersign/countersign/internal/rules/safetext"
)

// errScript refuses an address that would be read as another one than it looks like.
var errScript = errors.New("it has a sign that would be read as a letter of another script; write the plain letter")

// CanonicalEmail is the form in which addresses are stored and compared: NFKC, case
// folded. An address is refused if this turns a letter into one of another script, or
// a symbol into a letter: it would merge addresses that look different.
func CanonicalEmail(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", errors.New("it is not UTF-8")
	}
	for _, r := range text {
		if r >= utf8.RuneSelf && !keepsScript(r, fold(norm.NFKC.String(string(r)))) {
			return "", errScript
		}
	}
	return Folded(text), nil
}

// Folded is the form for comparing addresses where one person must not count as two:
// canonical but never refused, so that addresses stored by earlier releases are
// compared as well.
func Folded(text string) string {
	return norm.NFKC.String(fold(norm.NFKC.String(text)))
}

// MistakableEmail is why an address in canonical form may be taken for another one, nil
// where it isn't: nobody sees all of its characters, or a word of it mixes scripts, so
// that a letter passes for one of another alphabet. One of a single script is fine,
// whichever that is.
func MistakableEmail(email string) error {
	switch shown := safetext.Escaped(email); {
	case shown != email:
		return errors.New("it has characters that nobody sees: " + shown + "; write it without them")
	case strings.Contains(email, " "): // spaces of other kinds are not seen
		return errors.New("it has a space; write it without one")
	case safetext.MixesScripts(email) || !norm.NFC.IsNormalString(email):
		return errors.New("it mixes scripts within a word; write each word in the letters of one script")
	}
	return nil
}

// keepsScript reports that each letter of what a rune becomes is of the rune's script.
// Letterlike symbols count as no letters, whatever script Unicode gives them: of these
// is the Kelvin sign, which is folded to k. A sign that becomes several characters may be
// a ligature of letters, and may not hide punctuation, which separates the parts of an
// address.
func keepsScript(r rune, becomes string) bool {
	script := scriptOf(r)
	for _, b := range becomes {
		if b != r && unicode.IsLetter(b) && (letterlike(r) || script == nil || !unicode.Is(script, b)) {
			return false
		}
	}
	return utf8.RuneCountInString(becomes) == 1 || !strings.ContainsFunc(becomes, isPunctuation)
}

func letterlike(r rune) bool { return r >= 0x2100 && r <= 0x214f }

func isPunctuation(r rune) bool {
	return r < utf8.RuneSelf && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// scriptOf is the script of a rune, nil where it belongs to none or to several.
func scriptOf(r rune) *unicode.RangeTable {
	if unicode.In(r, unicode.Common, unicode.Inherited) {
		return nil
	}
	for _, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return table
		}
	}
	return nil
}

// fold is the simple case folding of Unicode: what differs in case alone becomes the
// same. A letter that has no other case stays, such as the Turkish dotless i.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.SimpleFold(r) == r {
			return r
		}
		return unicode.ToLower(unicode.ToUpper(r))
	}, text)
}
