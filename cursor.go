package countersign

import "encoding/json"

// cursor reads valid JSON text from left to right, without splitting it into
// values that nobody asked for.
type cursor struct {
	src string
	pos int
}

// more moves behind the opening byte's or a member's end to the next member, or
// past the closing byte.
func (c *cursor) more(closing byte) bool {
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

// colon moves from behind a key to its value.
func (c *cursor) colon() {
	c.space()
	c.pos++
	c.space()
}

// text reads the string at pos, its escapes resolved.
func (c *cursor) text() string {
	start := c.pos
	if escaped := c.skipString(); !escaped {
		return c.src[start+1 : c.pos-1]
	}
	var s string
	_ = json.Unmarshal([]byte(c.src[start:c.pos]), &s) // valid by the type's contract
	return s
}

// skipString moves behind the string at pos and reports whether it has escapes.
func (c *cursor) skipString() (escaped bool) {
	for c.pos++; c.pos < len(c.src) && c.src[c.pos] != '"'; c.pos++ {
		if c.src[c.pos] == '\\' {
			escaped = true
			c.pos++
		}
	}
	c.pos++
	return escaped
}

// skip moves behind the value at pos, whatever it holds.
func (c *cursor) skip() {
	switch c.src[c.pos] {
	case '"':
		c.skipString()
	case '{', '[':
		c.skipNested()
	default:
		for c.pos < len(c.src) && !endsLiteral(c.src[c.pos]) {
			c.pos++
		}
	}
}

// skipNested counts brackets of both kinds alike: in valid JSON they match.
func (c *cursor) skipNested() {
	for depth := 0; c.pos < len(c.src); c.pos++ {
		switch c.src[c.pos] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				c.pos++
				return
			}
		case '"':
			c.skipString()
			c.pos-- // the loop steps over the closing quote
		}
	}
}

func endsLiteral(b byte) bool { return b == ',' || b == ']' || b == '}' || b <= ' ' }

func (c *cursor) space() {
	for c.pos < len(c.src) && c.src[c.pos] <= ' ' {
		c.pos++
	}
}
