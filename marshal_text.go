package countersign

import "unicode/utf8"

// appendText appends a string as encoding/json writes it without HTML escapes.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := plain(s); i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c < ' ' || c == '"' || c == '\\' {
				b = appendEscape(append(b, s[start:i]...), c)
				start = i + 1
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(append(b, s[start:i]...), `\ufffd`...)
			start = i + size
		case r == '\u2028' || r == '\u2029': // JavaScript takes them for ends of lines
			b = append(append(b, s[start:i]...), `\u202`...)
			b = append(b, hexDigits[r&0xf])
			start = i + size
		}
		i += size
	}
	return append(append(b, s[start:]...), '"')
}

// plain is how many bytes at the beginning of s, in groups of eight, are written as they are:
// nearly all of nearly all texts.
func plain(s string) (n int) {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for ; len(s) >= n+8; n += 8 {
		of := s[n : n+8]
		x := uint64(of[0]) | uint64(of[1])<<8 | uint64(of[2])<<16 | uint64(of[3])<<24 |
			uint64(of[4])<<32 | uint64(of[5])<<40 | uint64(of[6])<<48 | uint64(of[7])<<56
		// Without borrows from byte to byte, a byte's highest bit says that it is below ' ', '"',
		// '\\' or no ASCII. A borrow comes from such a byte only, so it hides none.
		quote, backslash := x^(ones*'"'), x^(ones*'\\')
		if (x|(x-ones*' ')|(quote-ones)|(backslash-ones))&high != 0 {
			return n
		}
	}
	return n
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	default:
		return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
	}
}
