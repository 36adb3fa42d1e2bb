package gate

import (
	"fmt"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/inputs"
)

// Conditions over named values that no request has: those of a state that was read.

// HoldsOver evaluates a condition whose variables are names of values; known is false where nobody
// can say. A null is the unknown value, as in models.
func HoldsOver(m *cost.Meter, c *countersign.Condition, values map[string]countersign.Value) (is, known bool) {
	found := holds(c, reader{func(name string) inputs.Reading { return inputs.Reading{Value: values[name]} }, m})
	return found == isTrue, found != isUnknown
}

// CheckOver names all that is wrong with a condition over values of these names. What is found
// after the meter has come to its end is left out.
func CheckOver(m *cost.Meter, at string, c *countersign.Condition, names []string) []countersign.Problem {
	k := overNames{checking{meter: m}, names}
	k.check(at, c)
	return k.problems
}

type overNames struct {
	checking
	names []string
}

func (o *overNames) check(at string, c *countersign.Condition) {
	switch {
	case (c.Predicate == nil) == (c.Group == nil):
		o.add(at, badRule, "a condition is exactly one of predicate and group")
	case c.Predicate != nil:
		if o.meter.Take(1+len(o.names), at) {
			o.compared(at, c.Predicate)
		}
	case c.Group.Combinator != countersign.CombinatorAnd && c.Group.Combinator != countersign.CombinatorOr:
		o.add(at+".combinator", badRule, "must be AND or OR")
	default:
		for i := range c.Group.Conditions {
			o.check(fmt.Sprintf("%s.conditions[%d]", at, i), &c.Group.Conditions[i])
		}
	}
}

func (o *overNames) compared(at string, p *countersign.Predicate) {
	operator, is := countersign.OperatorNamed(p.Operator)
	switch {
	case !slices.Contains(o.names, p.VariableID):
		o.add(at+".variableId", unknownInput, "%q is none of the fields that are read", p.VariableID)
	case !is:
		o.add(at+".operator", badRule, "must be one of %s", countersign.OperatorNames())
	case !operator.Unary:
		o.operand(at, p, operator)
	}
}

// operand checks what a predicate compares with.
func (k *checking) operand(at string, p *countersign.Predicate, operator countersign.Operator) bool {
	switch {
	case p.Value.IsZero() || p.Value.IsNull():
		k.add(at+".value", badRule, "%s needs a value other than null; isUnknown asks whether there is none", p.Operator)
	case operator.Orders && p.Value.Kind() != countersign.KindNumber:
		k.add(at+".value", wrongType, "%s compares numbers, and this is a %s; use eq or neq", p.Operator, p.Value.Kind())
	default:
		return true
	}
	return false
}
