package exactjson

import (
	"bytes"
	"fmt"
	"math"

	"github.com/countersign/countersign"
)

// scanner reads a document once, from its first byte to its last. Each method
// begins at the first byte of what it is named after and ends behind its last;
// a fault ends the scan. Recursion is bounded by the depth that is accepted.
type scanner struct {
	data  []byte
	pos   int
	depth int
	path  path
	keys  keySet
	tape  *tape // records the document for Decode; nil when it is only checked
}

var byteOrderMark = []byte("\ufeff")

func (s *scanner) document() *fault {
	if len(s.data) > math.MaxInt32 {
		return s.refuse(size, 0, "the text is longer than 2 GiB", "send less")
	}
	if bytes.HasPrefix(s.data, byteOrderMark) {
		return s.refuse(syntax, 0, "found a byte order mark", "send UTF-8 without one")
	}
	if s.space(); s.pos == len(s.data) {
		return s.refuse(syntax, s.pos, "there is no JSON value: the text ends", "expected one")
	}
	if f := s.value(); f != nil {
		return f
	}
	if s.space(); s.pos < len(s.data) {
		return s.refuse(syntax, s.pos, "the JSON value is over, but "+s.found(), "send one value and nothing after it")
	}
	return nil
}

func (s *scanner) value() *fault {
	switch c := s.peek(); {
	case c == '{':
		return s.nested((*scanner).object)
	case c == '[':
		return s.nested((*scanner).array)
	case c == '"':
		_, f := s.text()
		return f
	case c == '-' || isDigit(c):
		return s.number()
	default:
		return s.literal()
	}
}

// nested counts the levels of objects and arrays around a value.
func (s *scanner) nested(container func(*scanner) *fault) *fault {
	if s.depth == countersign.MaxJSONDepth {
		return s.tooDeep()
	}
	s.depth++
	f := container(s)
	s.depth--
	return f
}

// tooDeep names the offset only: the path would have a step for each level.
func (s *scanner) tooDeep() *fault {
	f := s.refuse(depth, s.pos, "nested too deep",
		fmt.Sprintf("at most %d levels of objects and arrays are accepted", countersign.MaxJSONDepth))
	f.path = ""
	return f
}

func (s *scanner) object() *fault {
	at := s.tape.begin(countersign.KindObject, s.pos)
	keys := s.keys.open()
	s.pos++
	for first := true; ; first = false {
		over, f := s.separator('}', first)
		if f != nil {
			return f
		}
		if over {
			break
		}
		if f := s.member(keys); f != nil {
			return f
		}
	}
	s.keys.close(keys)
	s.tape.end(at, s.pos)
	return nil
}

func (s *scanner) member(keys objectKeys) *fault {
	if s.peek() != '"' {
		return s.expectedToken("a key in double quotes")
	}
	at := s.pos
	key, f := s.key()
	if f != nil {
		return f
	}
	if !s.keys.add(keys, key) {
		return s.refuse(duplicate, at, "the key "+quoted(key)+" stands a second time in its object", "keep one of the two")
	}
	if s.space(); s.peek() != ':' {
		return s.expected("a colon after the key " + quoted(key))
	}
	s.pos++
	s.space()
	s.path.enterKey(key)
	f = s.value()
	s.path.leave()
	return f
}

func (s *scanner) array() *fault {
	at := s.tape.begin(countersign.KindArray, s.pos)
	s.pos++
	for i := 0; ; i++ {
		over, f := s.separator(']', i == 0)
		if f != nil {
			return f
		}
		if over {
			break
		}
		s.path.enterIndex(i)
		if f := s.value(); f != nil {
			return f
		}
		s.path.leave()
	}
	s.tape.end(at, s.pos)
	return nil
}

// separator moves behind the closing byte and reports that the container is
// over, or moves to its next member.
func (s *scanner) separator(closing byte, first bool) (over bool, f *fault) {
	s.space()
	switch c := s.peek(); {
	case c == closing:
		s.pos++
		return true, nil
	case first:
		return false, nil
	case c != ',':
		return false, s.expected("a comma or " + string(rune(closing)))
	}
	s.pos++
	s.space()
	return false, nil
}

// literal reads true, false and null.
func (s *scanner) literal() *fault {
	kind, word := countersign.KindNull, "null"
	switch s.peek() {
	case 't':
		kind, word = countersign.KindBoolean, "true"
	case 'f':
		kind, word = countersign.KindBoolean, "false"
	}
	if len(s.data)-s.pos < len(word) || string(s.data[s.pos:s.pos+len(word)]) != word {
		return s.expectedToken("a JSON value")
	}
	s.tape.scalar(kind, s.pos, s.pos+len(word))
	s.pos += len(word)
	return nil
}

// peek is the byte at pos, 0 at the end (where no token begins with 0).
func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
