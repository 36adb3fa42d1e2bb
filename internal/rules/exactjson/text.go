package exactjson

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// key reads a string and returns its content.
func (s *scanner) key() ([]byte, *fault) {
	start := s.pos
	escaped, f := s.text()
	if f != nil {
		return nil, f
	}
	return content(s.data[start:s.pos], escaped), nil
}

// text reads a string and reports whether it holds escapes.
func (s *scanner) text() (escaped bool, f *fault) {
	start := s.pos
	for s.pos++; ; {
		s.pos += plain(s.data[s.pos:])
		switch c := s.peek(); {
		case c == '"':
			s.pos++
			s.tape.text(start, s.pos, escaped)
			return escaped, nil
		case c == '\\':
			escaped = true
			f = s.escape()
		case c < ' ':
			f = s.control()
		default:
			f = s.rune()
		}
		if f != nil {
			return false, f
		}
	}
}

// plain counts the leading bytes that stand for themselves.
func plain(b []byte) int {
	for i, c := range b {
		if c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return i
		}
	}
	return len(b)
}

// control refuses a byte below the space, and the end of the text.
func (s *scanner) control() *fault {
	if s.pos >= len(s.data) {
		return s.expected("the closing double quote of a string")
	}
	return s.refuse(syntax, s.pos, s.found()+" inside a string", `escape control characters, as in \n or \u0001`)
}

// rune reads one character beyond ASCII.
func (s *scanner) rune() *fault {
	r, width := utf8.DecodeRune(s.data[s.pos:])
	if r == utf8.RuneError && width == 1 {
		return s.refuse(encoding, s.pos, s.found()+" inside a string, which is no UTF-8", "send UTF-8")
	}
	s.pos += width
	return nil
}

func (s *scanner) escape() *fault {
	start := s.pos
	s.pos++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return nil
	case 'u':
		return s.unicodeEscape(start)
	default:
		return s.expected(`one of " \ / b f n r t u after a backslash`)
	}
}

// unicodeEscape reads \uXXXX, and both halves of a surrogate pair. Half a pair
// is no character: readers replace, keep or drop it, each in its own way.
func (s *scanner) unicodeEscape(start int) *fault {
	high, f := s.hex4()
	if f != nil || !utf16.IsSurrogate(high) {
		return f
	}
	if bytes.HasPrefix(s.data[s.pos:], []byte(`\u`)) {
		s.pos++
		low, f := s.hex4()
		if f != nil {
			return f
		}
		if utf16.DecodeRune(high, low) != utf8.RuneError {
			return nil
		}
	}
	return s.refuse(surrogate, start, "a lone surrogate "+string(s.data[start:start+6]),
		"write both halves of the pair, or the character itself")
}

// hex4 reads the u at pos and the four hexadecimal digits after it.
func (s *scanner) hex4() (rune, *fault) {
	var r rune
	s.pos++
	for range 4 {
		digit, ok := hexDigit(s.peek())
		if !ok {
			return 0, s.expected(`four hexadecimal digits after \u`)
		}
		r = r<<4 | digit
		s.pos++
	}
	return r, nil
}

func hexDigit(c byte) (rune, bool) {
	switch lower := c | 0x20; {
	case isDigit(c):
		return rune(c - '0'), true
	case lower >= 'a' && lower <= 'f':
		return rune(lower-'a') + 10, true
	default:
		return 0, false
	}
}

// content is what a checked string says: token is the string with its quotes.
// Without escapes it is a part of the token and not a copy.
func content(token []byte, escaped bool) []byte {
	inner := token[1 : len(token)-1]
	if !escaped {
		return inner
	}
	return appendResolved(make([]byte, 0, len(inner)), inner)
}

// appendResolved appends checked text, its escapes resolved.
func appendResolved(b, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			return append(b, text...)
		}
		b = append(b, text[:i]...)
		b, text = appendEscape(b, text[i+1:])
	}
}

// escapes holds what a letter after a backslash stands for; the others stand
// for themselves.
var escapes = [256]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// appendEscape resolves the escape whose backslash stood before text and
// returns the text behind it.
func appendEscape(b, text []byte) (resolved, rest []byte) {
	c := text[0]
	switch {
	case c != 'u' && escapes[c] != 0:
		return append(b, escapes[c]), text[1:]
	case c != 'u':
		return append(b, c), text[1:]
	}
	r, rest := codeUnit(text), text[5:]
	if utf16.IsSurrogate(r) {
		r, rest = utf16.DecodeRune(r, codeUnit(rest[1:])), rest[6:]
	}
	return utf8.AppendRune(b, r), rest
}

// codeUnit reads uXXXX.
func codeUnit(text []byte) rune {
	u, _ := strconv.ParseUint(string(text[1:5]), 16, 16) // four digits: checked
	return rune(u)
}
