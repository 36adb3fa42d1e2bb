package model

import (
	"slices"
	"sort"
	"strings"

	"github.com/countersign/countersign"
)

// unknown is the rank of null.
const unknown int32 = -1

// scale orders the constants that one variable is compared with or set to, and
// gives any value its rank among them: 2i+1 is the i-th constant itself, 2i is
// between the (i-1)-th and the i-th. A variable is never compared with anything
// else, so values of equal rank are the same to every condition, and constants
// of equal rank are equal: numbers by exact value, texts by what they say
// however they are escaped.
type scale struct {
	numbers bool
	closed  bool // a boolean or choice: there are no values besides the marks
	boolean bool
	marks   []mark
}

// mark is a value in comparable form.
type mark struct {
	number countersign.Number
	text   string // of everything that is no number
}

func (s *scale) mark(v countersign.Scalar) mark {
	if s.numbers {
		return mark{number: countersign.ParseNumber(v.Raw())}
	}
	return mark{text: v.Text()}
}

func (s *scale) compare(a, b mark) int {
	if s.numbers {
		return a.number.Compare(b.number)
	}
	return strings.Compare(a.text, b.text)
}

// add takes in a constant; settle comes after the last one.
func (s *scale) add(v countersign.Scalar) {
	if known(v) {
		s.marks = append(s.marks, s.mark(v))
	}
}

func (s *scale) settle() {
	slices.SortFunc(s.marks, s.compare)
	s.marks = slices.CompactFunc(s.marks, func(a, b mark) bool { return s.compare(a, b) == 0 })
}

func (s *scale) rank(v countersign.Scalar) int32 {
	if !known(v) {
		return unknown
	}
	m := s.mark(v)
	i, found := sort.Find(len(s.marks), func(i int) int { return s.compare(m, s.marks[i]) })
	if found {
		return int32(2*i + 1)
	}
	return int32(2 * i)
}

// newScale begins a variable's scale with the values that its type names by
// itself, so that booleans and choices have all theirs on it.
func newScale(v *countersign.Variable) scale {
	s := scale{numbers: v.Type == countersign.TypeNumber}
	switch v.Type {
	case countersign.TypeBoolean:
		s.closed, s.boolean, s.marks = true, true, []mark{{text: "false"}, {text: "true"}}
	case countersign.TypeChoice:
		s.closed = true
		for _, c := range v.Choices {
			s.marks = append(s.marks, mark{text: c})
		}
	}
	return s
}

// besides is the rank of some mark that is none of ranks.
func (s *scale) besides(ranks []int32) (rank int32, ok bool) {
	taken := make(map[int32]bool, len(ranks))
	for _, r := range ranks {
		taken[r] = true
	}
	for i := range s.marks {
		if r := int32(2*i + 1); !taken[r] {
			return r, true
		}
	}
	return 0, false
}
