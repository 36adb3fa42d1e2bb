package text

import (
	"strings"

	"github.com/countersign/countersign"
)

// comparisons are the operators in words; those without a value are in knowledge.
var comparisons = map[string]string{
	countersign.OpEqual: "is", countersign.OpNotEqual: "is not",
	countersign.OpGreater: ">", countersign.OpGreaterOrEqual: "≥", countersign.OpLess: "<", countersign.OpLessOrEqual: "≤",
}

var knowledge = map[string]string{countersign.OpIsUnknown: "is unknown", countersign.OpIsKnown: "is known"}

// Words for groups without conditions (contract 4).
const (
	Always = "always"
	never  = "never"
)

// ConditionWords words a condition: amount > 100 and tier is "gold". Values are shown
// as JSON, so that 249.00 and "249.00" differ.
func ConditionWords(c countersign.Condition) string {
	text, _ := wordsOf(c)
	return text
}

// wordsOf also returns the combinator that joins the text's parts, "" for a single
// part, so that the caller knows when parentheses are needed.
func wordsOf(c countersign.Condition) (text, joint string) {
	switch {
	case c.Group != nil:
		return groupWords(*c.Group)
	case c.Predicate != nil:
		return PredicateWords(c.Predicate.VariableID, c.Predicate.Operator, c.Predicate.Value), ""
	}
	return Always, ""
}

// PredicateWords word one comparison.
func PredicateWords(variable, operator string, value countersign.Scalar) string {
	if words, ok := knowledge[operator]; ok {
		return variable + " " + words
	}
	words, ok := comparisons[operator]
	if !ok {
		words = operator
	}
	return variable + " " + words + " " + Inline(value)
}

// groupWords joins parts by and or or. A part joined by the other word gets
// parentheses.
func groupWords(g countersign.ConditionGroup) (text, joint string) {
	switch len(g.Conditions) {
	case 0:
		if g.Combinator == countersign.CombinatorOr {
			return never, ""
		}
		return Always, ""
	case 1:
		return wordsOf(g.Conditions[0])
	}
	parts := make([]string, len(g.Conditions))
	for i, c := range g.Conditions {
		part, within := wordsOf(c)
		if within != "" && within != g.Combinator {
			part = "(" + part + ")"
		}
		parts[i] = part
	}
	return strings.Join(parts, " "+strings.ToLower(g.Combinator)+" "), g.Combinator
}

// EffectWords words an action's memory effects: refunded := true.
func EffectWords(effects []countersign.MemoryEffect) string {
	parts := make([]string, len(effects))
	for i, e := range effects {
		parts[i] = e.VariableID + " := " + Inline(e.Value)
	}
	return strings.Join(parts, ", ")
}
