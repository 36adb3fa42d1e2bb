package model

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/countersign/countersign"
)

// Messages quote the document, clipped: a long id or list of choices must not be
// repeated in full in every problem.
const (
	maxQuoted  = 60 // bytes of a quoted text
	maxChoices = 10 // choices named in a message
)

func quoted(s string) string { return strconv.Quote(clipped(s)) }

func clipped(s string) string {
	if len(s) <= maxQuoted {
		return s
	}
	cut := maxQuoted
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// rawText is a value as written in the document, clipped.
func rawText(v countersign.Scalar) string { return clipped(v.Raw()) }

func listed(choices []string) string {
	var b strings.Builder
	for i, c := range choices {
		if i == maxChoices {
			return b.String() + ", …"
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoted(c))
	}
	return b.String()
}
