package exactjson

import (
	"fmt"
	"strings"

	"github.com/countersign/countersign"
)

// Flaw is why a text that somebody else wrote, such as the answer of a receiver, is no
// acceptable JSON document: nobody here can write it better, but somebody has to judge it.
type Flaw struct {
	Kind  string // quotes nothing of the text
	Words string // may quote a key or a character of it
}

// kinds are what is said of a text without quoting it.
var kinds = map[reason]string{
	syntax:    "it is not JSON",
	encoding:  "it is not UTF-8",
	surrogate: "it has a lone surrogate",
	duplicate: "a key stands twice",
	depth:     "it is nested too deep",
	exponent:  "the exponent of a number is too long",
	size:      "it is too long",
}

// FlawOf returns the first flaw of data; ok is false where it has none.
func FlawOf(data []byte) (_ Flaw, ok bool) {
	s := scanner{data: data}
	f := s.document()
	if f == nil {
		return Flaw{}, false
	}
	flaw := Flaw{Kind: kinds[f.reason]}
	switch f.reason {
	case encoding:
		flaw.Words = fmt.Sprintf("it is not UTF-8 at byte %d", f.offset)
	case duplicate:
		flaw.Words = fmt.Sprintf("%s twice, the second time at byte %d", strings.TrimSuffix(f.what, " a second time in its object"), f.offset)
	case depth:
		flaw.Words = fmt.Sprintf("it has %d levels of nesting, of which %d are read", levels(data), countersign.MaxJSONDepth)
	case syntax:
		flaw.Words = fmt.Sprintf("%s at byte %d", f.what, f.offset)
		if strings.HasPrefix(f.right, "expected") { // the rest is advice to who wrote it
			flaw.Words += "; " + f.right
		}
	default:
		flaw.Words = fmt.Sprintf("%s at byte %d", f.what, f.offset)
	}
	return flaw, true
}

// levels is how deep the objects and arrays of a text are nested, as far as it goes.
func levels(data []byte) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}', c == ']':
			depth--
		}
	}
	return deepest
}
