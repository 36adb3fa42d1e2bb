package request

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// part is a piece of a path template: literal text, or the name of the input
// that fills a placeholder. Exactly one of the two is set.
type part struct{ literal, name string }

// parsePath splits a capability's path into its parts, or says why no request may be
// built from it: for any inputs, and however often a receiver decodes it, the path
// must stay on the registered origin and below its own prefix (specification 2.5:
// absolute, no query string, no traversal).
func parsePath(path string) ([]part, error) {
	if !strings.HasPrefix(path, "/") {
		return nil, errors.New("must be an absolute path that begins with /")
	}
	parts, err := split(path, isPlaceholder, "of letters, digits, dot, underscore and hyphen")
	if err != nil {
		return nil, err
	}
	shape := shapeOf(parts)
	if err := checkCharacters(shape); err != nil {
		return nil, err
	}
	decoded, err := url.PathUnescape(shape)
	if err != nil {
		return nil, err
	}
	return parts, checkSegments(decoded)
}

// split finds the placeholders, whose names are valid; form says which names are.
func split(path string, valid func(name string) bool, form string) ([]part, error) {
	var parts []part
	for path != "" {
		literal, rest, found := strings.Cut(path, "{")
		if strings.Contains(literal, "}") {
			return nil, errors.New("has a } without {; write a placeholder as {name}")
		}
		if literal != "" {
			parts = append(parts, part{literal: literal})
		}
		if !found {
			break
		}
		name, rest, closed := strings.Cut(rest, "}")
		if !closed || !valid(name) {
			return nil, errors.New("has a malformed placeholder; write {name}, " + form)
		}
		parts, path = append(parts, part{name: name}), rest
	}
	return parts, nil
}

func isPlaceholder(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	})
}

// shapeOf is the path with a letter in place of each placeholder. A value is an id and
// starts with a letter or digit, so like that letter it can't create an empty or dot
// segment.
func shapeOf(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		if p.name != "" {
			b.WriteByte('x')
		}
		b.WriteString(p.literal)
	}
	return b.String()
}

// checkCharacters allows only the path characters of RFC 3986, without those that end
// or disguise a path.
func checkCharacters(path string) error {
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '?':
			return errors.New("must not hold a query string; name the fields in request.query")
		case c == '#':
			return errors.New("must not hold a fragment")
		case c == '%':
			if err := checkEscape(path[i:]); err != nil {
				return err
			}
		case c != '/' && !isPathByte(c):
			_, size := utf8.DecodeRuneInString(path[i:])
			return fmt.Errorf("must not hold %s as it is; percent-encode it if it belongs there", strconv.Quote(path[i:i+size]))
		}
	}
	return nil
}

// checkEscape refuses escapes that are malformed or stand for what may not be in
// a path: a receiver that decodes before it splits would see a traversal. %25 is
// refused for the receivers that decode twice.
func checkEscape(s string) error {
	s = s[:min(len(s), len("%2e"))]
	n, err := strconv.ParseUint(s[1:], 16, 8)
	if err != nil || len(s) < len("%2e") {
		return errors.New("has a % that is not followed by two hexadecimal digits")
	}
	if c := byte(n); c < ' ' || c == 0x7f || strings.IndexByte(`./\%`, c) >= 0 {
		return fmt.Errorf("must not hold %s: dots, slashes, backslashes, percent signs and control characters can't be hidden in escapes", s)
	}
	return nil
}

// checkSegments refuses empty and dot segments, also in front of a `;`, where
// some receivers cut parameters off before they resolve the path.
func checkSegments(path string) error {
	segments := strings.Split(path[1:], "/")
	for i, s := range segments {
		name, _, _ := strings.Cut(s, ";")
		switch {
		case name == "." || name == "..":
			return errors.New("must not hold . or .. as a segment")
		case name == "" && i < len(segments)-1, s != "" && name == "":
			return errors.New("must not hold an empty segment (//)")
		}
	}
	return nil
}

// isPathByte reports a byte of RFC 3986's pchar other than the escape.
func isPathByte(c byte) bool {
	return isUnreserved(c) || strings.IndexByte("!$&'()*+,;=:@", c) >= 0
}

func isUnreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}
