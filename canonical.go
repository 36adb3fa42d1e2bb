package countersign

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"sort"
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
	c := canonicalizer{src: v.raw}
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

// canonicalizer rewrites valid JSON in one pass, so that the cost is that of
// the text and not of its depth.
type canonicalizer struct {
	src string
	pos int
}

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

func (c *canonicalizer) object(b []byte) []byte {
	type member struct{ key, value string }
	var members []member
	for c.pos++; c.more('}'); {
		key := c.text()
		c.space()
		c.pos++ // the colon
		members = append(members, member{key, string(c.value(nil))})
	}
	sort.Slice(members, func(i, j int) bool { return members[i].key < members[j].key })
	b = append(b, '{')
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, m.key), ':')
		b = append(b, m.value...)
	}
	return append(b, '}')
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

// more moves to the next member or past the closing byte.
func (c *canonicalizer) more(closing byte) bool {
	c.space()
	if c.pos < len(c.src) && c.src[c.pos] == ',' {
		c.pos++
		c.space()
	}
	if c.pos >= len(c.src) || c.src[c.pos] == closing {
		c.pos++
		return false
	}
	return true
}

// text reads the string at pos, its escapes resolved.
func (c *canonicalizer) text() string {
	start := c.pos
	escaped := false
	for c.pos++; c.pos < len(c.src) && c.src[c.pos] != '"'; c.pos++ {
		if c.src[c.pos] == '\\' {
			escaped = true
			c.pos++
		}
	}
	c.pos++
	if !escaped {
		return c.src[start+1 : c.pos-1]
	}
	var s string
	_ = json.Unmarshal([]byte(c.src[start:c.pos]), &s) // valid by the type's contract
	return s
}

// literal copies true, false and null, and normalises a number.
func (c *canonicalizer) literal(b []byte) []byte {
	start := c.pos
	for c.pos < len(c.src) && c.src[c.pos] != ',' && c.src[c.pos] != ']' && c.src[c.pos] != '}' && c.src[c.pos] > ' ' {
		c.pos++
	}
	text := c.src[start:c.pos]
	if text[0] == 't' || text[0] == 'f' || text[0] == 'n' {
		return append(b, text...)
	}
	return append(b, ParseNumber(text).String()...)
}

func (c *canonicalizer) space() {
	for c.pos < len(c.src) && c.src[c.pos] <= ' ' {
		c.pos++
	}
}

const hexDigits = "0123456789abcdef"

// appendString writes s with the fewest escapes JSON allows.
func appendString(b []byte, s string) []byte {
	if !utf8.ValidString(s) { // never from outside: internal/exact refuses it
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
