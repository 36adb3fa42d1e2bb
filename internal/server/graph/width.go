package graph

import (
	"strings"
	"unicode"
)

// Font sizes of the style sheet, in px.
const (
	titleSize = 13.0
	smallSize = 11.0
	monoSize  = 10.5
	monoWidth = 0.61 // of the size: the widest of the usual fonts
)

// Text widths without a font: those of the wider system fonts, relative to the size. An
// overestimate truncates early; an underestimate would overflow.
var widths = func() (table [128]float64) {
	for r := range table {
		table[r] = 0.59
	}
	for _, class := range []struct {
		width float64
		runes string
	}{
		{0.29, "iljI.,:;'|!`"},
		{0.39, "ftr()[]{}/\\ -\""},
		{0.54, "ckszvxyJ*?_"},
		{0.65, "0123456789~+=<>^#$"},
		{0.70, "ABCDEFGHKLNOPQRSTUVXYZ&"},
		{0.90, "mwMW@%"},
	} {
		for _, r := range class.runes {
			table[r] = class.width
		}
	}
	return table
}()

func runeWidth(r rune, mono bool) float64 {
	switch {
	case unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Cf, r):
		return 0
	case r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) || r >= 0x1F000:
		return 1.05
	case mono:
		return monoWidth
	case r < 128:
		return widths[r]
	default:
		return 0.72
	}
}

func textWidth(s string, size float64, mono bool) float64 {
	sum := 0.0
	for _, r := range s {
		sum += runeWidth(r, mono)
	}
	return sum * size
}

// cut shortens s to the room, with an ellipsis, and tells whether it had to.
func cut(s string, room, size float64, mono bool) (string, bool) {
	sum, end, dots := 0.0, 0, runeWidth('…', mono)*size
	for i, r := range s {
		if sum+dots <= room {
			end = i
		}
		if sum += runeWidth(r, mono) * size; sum > room {
			return strings.TrimRight(s[:end], " ") + "…", true
		}
	}
	return s, false
}

// wrap breaks s at a space into at most two lines; longer text is truncated when it is
// drawn.
func wrap(s string, room, size float64, mono bool) []string {
	sum, space := 0.0, -1
	for i, r := range s {
		if sum += runeWidth(r, mono) * size; sum > room && space > 0 {
			return []string{s[:space], strings.TrimLeft(s[space:], " ")}
		} else if sum > room {
			break
		}
		if r == ' ' {
			space = i
		}
	}
	return []string{s}
}
