// Package safetext makes untrusted text safe to show to a person or a language
// model: no hidden characters, and none that change how other text is displayed.
package safetext

import (
	"strings"
	"unicode"
)

// Text is s without control, invisible and bidirectional characters; unusual spaces
// become plain ones.
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
