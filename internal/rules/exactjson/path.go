package exactjson

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// path is where a reader stands in a document, outermost first. It is written
// out only for a problem, so that keeping it costs next to nothing.
type path []segment

// segment is one step down: into an element when index is not negative, else
// into the member of that key.
type segment struct {
	key   []byte
	index int
}

func (p *path) enterKey(key []byte)  { *p = append(*p, segment{key, -1}) }
func (p *path) enterIndex(index int) { *p = append(*p, segment{nil, index}) }
func (p *path) leave()               { *p = (*p)[:len(*p)-1] }

// String writes the path as in `steps[2].input["a b"]`.
func (p path) String() string {
	var b strings.Builder
	for i, s := range p {
		switch {
		case s.index >= 0:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case !isIdentifier(s.key):
			b.WriteString("[" + quoted(s.key) + "]")
		case i > 0:
			b.WriteString("." + string(s.key))
		default:
			b.Write(s.key)
		}
	}
	return b.String()
}

// maxShown bounds what a message repeats of a key, so that a message stays
// short however long the keys of a document are.
const maxShown = 64

// isIdentifier reports a key that a path can show without quotes.
func isIdentifier(key []byte) bool {
	if len(key) == 0 || len(key) > maxShown || isDigit(key[0]) {
		return false
	}
	for _, c := range key {
		if c != '_' && !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}

// quoted shows a key in double quotes, cut where it is long. Nothing that a
// terminal or a log could mistake for its own is left in it.
func quoted(key []byte) string {
	if len(key) <= maxShown {
		return strconv.Quote(string(key))
	}
	cut := maxShown
	for !utf8.RuneStart(key[cut]) {
		cut--
	}
	return strconv.Quote(string(key[:cut]) + "…")
}
