package mcp

import "strings"

// readAlike reports a pattern that RE2 and ECMA-262 read alike. JSON Schema's patterns are the
// latter's, and clients that check arguments refuse every call by one that they can't read, or
// read otherwise. It takes what both define in the same words, and nothing else: literals, plain
// classes, groups, alternatives and repetitions. A dot, \s and flags are read otherwise.
func readAlike(pattern string) bool {
	s := patternScanner{rest: []rune(pattern)}
	for len(s.rest) > 0 {
		if !s.next() {
			return false
		}
	}
	return s.depth == 0
}

type patternScanner struct {
	rest  []rune
	depth int
	atom  bool // what comes before can be repeated
}

// Characters that both know after a backslash, outside of a class.
const (
	escapedChars   = `.*+?()[]{}|^$/\tnrfv`
	escapedClasses = `dDwW`
)

func (s *patternScanner) take() rune {
	r := s.rest[0]
	s.rest = s.rest[1:]
	return r
}

func (s *patternScanner) next() bool {
	switch r := s.take(); r {
	case '\\':
		return s.escape()
	case '[':
		s.atom = true
		return s.class()
	case '(':
		if s.depth++; len(s.rest) > 0 && s.rest[0] == '?' {
			if len(s.rest) < 2 || s.rest[1] != ':' {
				return false
			}
			s.rest = s.rest[2:]
		}
		s.atom = false
	case ')':
		s.depth--
		s.atom = true
		return s.depth >= 0
	case '|', '^', '$':
		s.atom = false
	case '*', '+', '?', '{':
		return s.repeat(r)
	case '.', ']', '}':
		return false
	default:
		s.atom = true
	}
	return true
}

func (s *patternScanner) escape() bool {
	if len(s.rest) == 0 {
		return false
	}
	switch r := s.take(); {
	case r == 'b', r == 'B':
		s.atom = false
		return true
	case strings.ContainsRune(escapedChars+escapedClasses, r):
		s.atom = true
		return true
	}
	return false
}

// repeat reads a repetition of what comes before it, with a ? for the least there may be.
func (s *patternScanner) repeat(r rune) bool {
	if !s.atom {
		return false
	}
	if r == '{' {
		end := strings.IndexRune(string(s.rest), '}')
		if end < 0 || !counts(string(s.rest)[:end]) {
			return false
		}
		s.rest = []rune(string(s.rest)[end+1:])
	}
	if len(s.rest) > 0 && s.rest[0] == '?' {
		s.take()
	}
	s.atom = false
	return true
}

// counts reports n, n, or n,m.
func counts(text string) bool {
	least, most, _ := strings.Cut(text, ",")
	return least != "" && strings.Trim(least+most, "0123456789") == ""
}

// class reads a class up to its end.
func (s *patternScanner) class() bool {
	if len(s.rest) > 0 && s.rest[0] == '^' {
		s.take()
	}
	for first, wide := true, false; len(s.rest) > 0; first = false {
		r := s.take()
		switch {
		case r == ']':
			return !first
		case r == '[', r == '&', r == '~':
			return false
		case r == '-' && len(s.rest) > 0 && (s.rest[0] == '-' || wide && s.rest[0] != ']'):
			return false
		case r == '\\':
			if len(s.rest) == 0 || !strings.ContainsRune(escapedChars+escapedClasses+"-", s.rest[0]) {
				return false
			}
			wide = strings.ContainsRune(escapedClasses, s.take())
			continue
		case r == '-' && len(s.rest) > 1 && s.rest[0] == '\\' && strings.ContainsRune(escapedClasses, s.rest[1]):
			return false
		}
		wide = false
	}
	return false
}
