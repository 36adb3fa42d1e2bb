package safetext

import (
	"strconv"
	"strings"
	"unicode"
)

// hidden reports a character without a visible form: control, direction, zero width,
// private use or unassigned, and every space but the plain one. It includes characters
// that Unicode added after this program was built.
func hidden(r rune) bool {
	if r >= ' ' && r < 0x7f {
		return false
	}
	return !strconv.IsPrint(r) ||
		unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point, empty)
}

// empty are letters, marks and symbols that are drawn as nothing.
var empty = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // the braille pattern without a dot
		{Lo: 0xfffc, Hi: 0xfffc, Stride: 1}, // stands for an object that isn't there
	},
	R32: []unicode.Range32{
		{Lo: 0x13441, Hi: 0x13442, Stride: 1}, // blanks among the hieroglyphs
		{Lo: 0x16fe4, Hi: 0x16fe4, Stride: 1}, // the filler of the Khitan small script
		{Lo: 0x1d159, Hi: 0x1d159, Stride: 1}, // a note without a head
	},
}

// Blank reports a text without visible characters. A combining mark without a base
// character does not count.
func Blank(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r != ' ' && !unicode.IsMark(r) && !hidden(r) })
}
