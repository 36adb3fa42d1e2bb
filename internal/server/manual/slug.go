package manual

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// slugs gives headings the ids that GitHub gives them, so that a link to a section
// works there and here.
type slugs map[string]int

// Slug is the id of a heading that is the first of its text on a page.
func Slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		default:
			return -1
		}
	}, strings.TrimSpace(heading))
}

// Generate implements goldmark's parser.IDs.
func (s slugs) Generate(value []byte, _ ast.NodeKind) []byte {
	id := Slug(string(value))
	n := s[id]
	s[id] = n + 1
	if n > 0 {
		id += "-" + strconv.Itoa(n)
	}
	return []byte(id)
}

// Put implements parser.IDs.
func (s slugs) Put(value []byte) { s[string(value)]++ }
