// Package safetext makes text of others safe to put before a reader, a person or a
// language model: nothing in it is hidden, and nothing changes how the rest is shown.
package safetext

import (
	"strings"
	"unicode"
)

// Text is s without control characters and unusual spaces, which become usual ones, and
// without other characters that nobody sees or that turn the direction of others.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), unicode.In(r, unicode.Z):
			return ' '
		case hidden(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
