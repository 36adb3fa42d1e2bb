package model

import (
	"slices"
	"sort"
	"strings"

	"github.com/countersign/countersign"
)

// unknown is the rank of null.
const unknown int32 = -1

// constantTable orders the constants that a variable is compared with or set to, and
// ranks any value among them: 2i+1 is the i-th constant, 2i lies between the (i-1)-th
// and the i-th. A variable is never compared with anything else, so no condition
// distinguishes values of equal rank. Constants of equal rank are equal: numbers by
// exact value, texts after unescaping.
type constantTable struct {
	numbers bool
	closed  bool // a boolean or choice: there are no other values
	boolean bool
	sorted  []constant
}

// constant is a value in comparable form.
type constant struct {
	number countersign.Number
	text   string // of a value that is not a number
}

func (t *constantTable) parse(v countersign.Scalar) constant {
	if t.numbers {
		return constant{number: countersign.ParseNumber(v.Raw())}
	}
	return constant{text: v.Text()}
}

func (t *constantTable) compare(a, b constant) int {
	if t.numbers {
		return a.number.Compare(b.number)
	}
	return strings.Compare(a.text, b.text)
}

// add adds a constant; call sortUnique after the last one.
func (t *constantTable) add(v countersign.Scalar) {
	if known(v) {
		t.sorted = append(t.sorted, t.parse(v))
	}
}

func (t *constantTable) sortUnique() {
	slices.SortFunc(t.sorted, t.compare)
	t.sorted = slices.CompactFunc(t.sorted, func(a, b constant) bool { return t.compare(a, b) == 0 })
}

func (t *constantTable) rank(v countersign.Scalar) int32 {
	if !known(v) {
		return unknown
	}
	m := t.parse(v)
	i, found := sort.Find(len(t.sorted), func(i int) int { return t.compare(m, t.sorted[i]) })
	if found {
		return int32(2*i + 1)
	}
	return int32(2 * i)
}

// newConstantTable starts a table with the values that the variable's type defines:
// booleans and choices have all theirs in it.
func newConstantTable(v *countersign.Variable) constantTable {
	s := constantTable{numbers: v.Type == countersign.TypeNumber}
	switch v.Type {
	case countersign.TypeBoolean:
		s.closed, s.boolean, s.sorted = true, true, []constant{{text: "false"}, {text: "true"}}
	case countersign.TypeChoice:
		s.closed = true
		for _, c := range v.Choices {
			s.sorted = append(s.sorted, constant{text: c})
		}
	}
	return s
}

// unusedRank is the rank of a constant that is not in ranks.
func (t *constantTable) unusedRank(ranks []int32) (rank int32, ok bool) {
	taken := make(map[int32]bool, len(ranks))
	for _, r := range ranks {
		taken[r] = true
	}
	for i := range t.sorted {
		if r := int32(2*i + 1); !taken[r] {
			return r, true
		}
	}
	return 0, false
}
