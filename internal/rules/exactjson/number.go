package exactjson

import (
	"fmt"

	"github.com/countersign/countersign"
)

// number reads a number by RFC 8259's grammar. Its value is looked at nowhere:
// it may be of any size and precision, but for the length of the exponent, and in a
// request for its own: each comparison reads all of its digits.
func (s *scanner) number() *fault {
	start := s.pos
	if s.peek() == '-' {
		s.pos++
	}
	if f := s.wholePart(); f != nil {
		return f
	}
	if s.peek() == '.' {
		s.pos++
		if f := s.digits("a digit after the decimal point"); f != nil {
			return f
		}
	}
	if s.peek()|0x20 == 'e' {
		if f := s.exponent(); f != nil {
			return f
		}
	}
	if s.tape != nil && s.pos-start > countersign.MaxNumberLength {
		return s.refuse(exponent, start, fmt.Sprintf("a number of %d characters is too long", s.pos-start),
			fmt.Sprintf("at most %d are accepted", countersign.MaxNumberLength))
	}
	s.tape.scalar(countersign.KindNumber, start, s.pos)
	return nil
}

func (s *scanner) wholePart() *fault {
	switch {
	case !isDigit(s.peek()):
		return s.expectedToken("a digit after the minus sign")
	case s.peek() != '0':
		return s.digits("a digit")
	}
	if s.pos++; isDigit(s.peek()) {
		return s.refuse(syntax, s.pos-1, "a number begins with a zero", "write it without leading zeros")
	}
	return nil
}

// digits reads at least one.
func (s *scanner) digits(what string) *fault {
	if !isDigit(s.peek()) {
		return s.expected(what)
	}
	for isDigit(s.peek()) {
		s.pos++
	}
	return nil
}

// exponent bounds the digits that count: without leading zeros, which change
// nothing. More of them would overflow what Number compares with.
func (s *scanner) exponent() *fault {
	start := s.pos
	if s.pos++; s.peek() == '+' || s.peek() == '-' {
		s.pos++
	}
	if !isDigit(s.peek()) {
		return s.expected("a digit in the exponent")
	}
	for s.peek() == '0' {
		s.pos++
	}
	first := s.pos
	for isDigit(s.peek()) {
		s.pos++
	}
	if s.pos-first > countersign.MaxExponentDigits {
		return s.refuse(exponent, start, "the exponent of a number is too long",
			fmt.Sprintf("at most %d digits are accepted", countersign.MaxExponentDigits))
	}
	return nil
}
