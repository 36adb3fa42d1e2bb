// Package plain makes text of others safe to put before a reader, a person or a
// language model: nothing in it is hidden, and nothing changes how the rest is shown.
package plain

import (
	"strings"
	"unicode"
)

// Text is s without control characters, which become spaces, and without characters
// that nobody sees or that turn the direction of others.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return ' '
		case unicode.In(r, unicode.Cf, unicode.Co, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
