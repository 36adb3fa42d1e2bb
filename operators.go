package countersign

import (
	"slices"
	"strings"
)

// Operators of a Predicate (specification 2.2).
const (
	OpEqual          = "eq"
	OpNotEqual       = "neq"
	OpGreater        = "gt"
	OpGreaterOrEqual = "gte"
	OpLess           = "lt"
	OpLessOrEqual    = "lte"
	OpIsUnknown      = "isUnknown"
	OpIsKnown        = "isKnown"
)

// Operator says how an operator compares. Models, approval rules, their forms and their words know operators from here
// alone.
type Operator struct {
	Name string

	Less, Equal, Greater bool // how a value may stand to the one that it is compared with
	Orders               bool // it asks which of two numbers is greater
	Unary                bool // it compares with nothing

	Words  string // between a variable and a value: amount > 100
	Spoken string // in a form that asks how an input compares: is more than
}

// Operators are all of them, as the API document lists them.
var Operators = []Operator{
	{Name: OpEqual, Equal: true, Words: "is", Spoken: "is"},
	{Name: OpNotEqual, Less: true, Greater: true, Words: "is not", Spoken: "is not"},
	{Name: OpGreater, Greater: true, Orders: true, Words: ">", Spoken: "is more than"},
	{Name: OpGreaterOrEqual, Greater: true, Equal: true, Orders: true, Words: "≥", Spoken: "is at least"},
	{Name: OpLess, Less: true, Orders: true, Words: "<", Spoken: "is less than"},
	{Name: OpLessOrEqual, Less: true, Equal: true, Orders: true, Words: "≤", Spoken: "is at most"},
	{Name: OpIsUnknown, Unary: true, Words: "is unknown", Spoken: "is not given"},
	{Name: OpIsKnown, Unary: true, Words: "is known", Spoken: "is given"},
}

// OperatorNamed finds an operator.
func OperatorNamed(name string) (o Operator, is bool) {
	i := slices.IndexFunc(Operators, func(o Operator) bool { return o.Name == name })
	if i < 0 {
		return o, false
	}
	return Operators[i], true
}

// OperatorNames are the names of all of them, in a sentence.
func OperatorNames() string {
	names := make([]string, len(Operators))
	for i, o := range Operators {
		names[i] = o.Name
	}
	return strings.Join(names, ", ")
}

// Takes reports an operator that compares with a value.
func (o Operator) Takes() bool { return o.Name != "" && !o.Unary }

// Holds reports whether it holds of two values that compare so: below 0 where the first is less.
func (o Operator) Holds(sign int) bool {
	switch {
	case sign < 0:
		return o.Less
	case sign > 0:
		return o.Greater
	}
	return o.Equal
}
