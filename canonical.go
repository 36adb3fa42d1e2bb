package countersign

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Canonical writes the value in the one form that equal values share: object
// keys sorted, minimal escapes, numbers as normalised exact decimals (1, 1.0 and
// 1e0 are `1`). Fingerprints and digests are taken over it. Floats are never
// involved, so 9007199254740993 and …992 stay two numbers.
func (v Value) Canonical() []byte {
	if v.raw == "" {
		return nil
	}
	c := canonicalizer{cursor{src: v.raw}}
	return c.value(make([]byte, 0, len(v.raw)))
}

// Equal is whole JSON equality: numbers by exact value, object key order
// ignored, arrays ordered, null not the same as absent (contract 5).
func (v Value) Equal(w Value) bool {
	if v.raw == w.raw {
		return true
	}
	return v.Kind() == w.Kind() && string(v.Canonical()) == string(w.Canonical())
}

// Digest is the lowercase hex SHA-256 of the canonical form.
func (v Value) Digest() string { return SHA256Hex(v.Canonical()) }

// SHA256Hex is the lowercase hex SHA-256 of b.
func SHA256Hex(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// CanonicalDigest is the digest of any plain Go value's JSON.
func CanonicalDigest(v any) (string, error) {
	w, err := ValueOf(v)
	if err != nil {
		return "", err
	}
	return w.Digest(), nil
}

// canonicalizer rewrites valid JSON in one pass. Members that already stand in
// order are written once, where they belong, so that the cost of most documents
// is that of the text and not of its depth.
type canonicalizer struct{ cursor }

func (c *canonicalizer) value(b []byte) []byte {
	c.space()
	if c.pos >= len(c.src) {
		return b
	}
	switch c.src[c.pos] {
	case '{':
		return c.object(b)
	case '[':
		return c.array(b)
	case '"':
		return appendString(b, c.text())
	default:
		return c.literal(b)
	}
}

// member is a key and where its canonical text stands, the comma after it
// included.
type member struct {
	key        string
	start, end int
}

func (c *canonicalizer) object(b []byte) []byte {
	b = append(b, '{')
	first := len(b)
	var members []member
	for c.pos++; c.more('}'); {
		m := member{key: c.text(), start: len(b)}
		c.colon()
		b = c.value(append(appendString(b, m.key), ':'))
		b = append(b, ',')
		m.end = len(b)
		members = append(members, m)
	}
	if len(members) == 0 {
		return append(b, '}')
	}
	sortMembers(b, first, members)
	b[len(b)-1] = '}' // the last comma
	return b
}

// sortMembers brings the members that are written from first on into the order
// of their keys.
func sortMembers(b []byte, first int, members []member) {
	byKey := func(m, n member) int { return strings.Compare(m.key, n.key) }
	if slices.IsSortedFunc(members, byKey) {
		return
	}
	slices.SortFunc(members, byKey)
	unsorted := string(b[first:])
	b = b[:first]
	for _, m := range members {
		b = append(b, unsorted[m.start-first:m.end-first]...)
	}
}

func (c *canonicalizer) array(b []byte) []byte {
	b = append(b, '[')
	first := true
	for c.pos++; c.more(']'); first = false {
		if !first {
			b = append(b, ',')
		}
		b = c.value(b)
	}
	return append(b, ']')
}

// literal copies true, false and null, and normalises a number.
func (c *canonicalizer) literal(b []byte) []byte {
	start := c.pos
	c.skip()
	text := c.src[start:c.pos]
	if text[0] == 't' || text[0] == 'f' || text[0] == 'n' {
		return append(b, text...)
	}
	return append(b, ParseNumber(text).String()...)
}

const hexDigits = "0123456789abcdef"

// appendString writes s with the fewest escapes JSON allows.
func appendString(b []byte, s string) []byte {
	if !utf8.ValidString(s) { // never from outside: internal/rules/exactjson refuses it
		enc, _ := json.Marshal(s)
		return append(b, enc...)
	}
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\t':
			b = append(b, '\\', 't')
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
