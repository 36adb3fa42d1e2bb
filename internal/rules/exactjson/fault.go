package exactjson

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/countersign/countersign"
)

// reason tells the refusals that RFC 8259 demands from those that are ours.
type reason int

const (
	syntax    reason = iota // not JSON at all
	encoding                // invalid UTF-8
	surrogate               // \ud800 without its other half
	duplicate               // a key twice in one object
	depth                   // nested too deep
	exponent                // a number or its exponent too long to compare cheaply
	size                    // longer than the offsets can count
)

// fault is why a text was refused: the first thing wrong with it.
type fault struct {
	reason reason
	path   string
	offset int
	what   string // what is wrong
	right  string // what would be right
}

func (f *fault) refusal() error {
	return countersign.RefusedAt(countersign.CodeInvalidJSON, f.path, "%s at byte %d; %s", f.what, f.offset, f.right)
}

// refuse makes a fault at an offset, on the path that the scanner is on.
func (s *scanner) refuse(r reason, offset int, what, right string) *fault {
	return &fault{reason: r, path: s.path.String(), offset: offset, what: what, right: right}
}

// expected makes the syntax fault of a byte that can't stand at pos.
func (s *scanner) expected(what string) *fault {
	return s.refuse(syntax, s.pos, s.found(), "expected "+what)
}

// expectedToken is expected where a value or key begins, with a hint.
func (s *scanner) expectedToken(what string) *fault {
	return s.expected(what + s.hint())
}

func (s *scanner) found() string {
	if s.pos >= len(s.data) {
		return "the text ends"
	}
	switch c := s.data[s.pos]; {
	case c == '\'':
		return "found a single quote"
	case c == '\\':
		return "found a backslash"
	case c > ' ' && c < 0x7f:
		return "found " + strconv.QuoteRune(rune(c))
	default:
		return fmt.Sprintf("found byte 0x%02X", c)
	}
}

// hint names the dialect that a byte usually comes from.
func (s *scanner) hint() string {
	if s.pos >= len(s.data) {
		return ""
	}
	switch s.data[s.pos] {
	case 'N', 'I':
		return " (NaN and Infinity are no JSON numbers)"
	case 'T', 'F':
		return " (true, false and null are written in small letters)"
	case '\'':
		return " (strings and keys stand in double quotes)"
	case '/', '#':
		return " (JSON has no comments)"
	case '+', '.':
		return " (a number begins with a digit or a minus sign)"
	case '}', ']':
		return s.commaHint()
	default:
		return ""
	}
}

func (s *scanner) commaHint() string {
	if before := bytes.TrimRight(s.data[:s.pos], " \t\r\n"); bytes.HasSuffix(before, []byte(",")) {
		return " (no comma stands after the last one)"
	}
	return ""
}
