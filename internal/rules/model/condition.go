package model

import (
	"strconv"

	"github.com/countersign/countersign"
)

// eachCondition visits a condition and all nested ones, in document order. nest is the
// index taken in each group.
func eachCondition(c *countersign.Condition, nest []int, visit func(*countersign.Condition, []int)) {
	visit(c, nest)
	if c.Group == nil {
		return
	}
	for i := range c.Group.Conditions {
		eachCondition(&c.Group.Conditions[i], append(nest, i), visit)
	}
}

// conditionPath is the path of a condition: transitions[3].condition.conditions[0].
func conditionPath(transition int, nest []int) string {
	b := append([]byte("transitions["), strconv.Itoa(transition)...)
	b = append(b, "].condition"...)
	for _, i := range nest {
		b = append(b, ".conditions["...)
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(b, ']')
	}
	return string(b)
}

func (c *checker) condition(transition int, root *countersign.Condition) {
	eachCondition(root, nil, func(cond *countersign.Condition, nest []int) {
		at := func() string { return conditionPath(transition, nest) }
		switch {
		case (cond.Predicate == nil) == (cond.Group == nil):
			c.fail(at(), WrongShape, "a condition is exactly one of predicate and group")
		case cond.Group != nil:
			c.combinator(at, cond.Group.Combinator)
		default:
			c.predicate(at, cond.Predicate)
		}
	})
}

func (c *checker) combinator(at func() string, combinator string) {
	if combinator != countersign.CombinatorAnd && combinator != countersign.CombinatorOr {
		c.fail(at()+".combinator", WrongShape, "%s is neither AND nor OR", quoted(combinator))
	}
}

func (c *checker) predicate(at func() string, p *countersign.Predicate) {
	v := c.ix.variables[p.VariableID]
	operator, is := countersign.OperatorNamed(p.Operator)
	switch {
	case v == nil:
		c.fail(at()+".variableId", UnknownVariable, "the model has no variable %s", quoted(p.VariableID))
	case !is:
		c.fail(at()+".operator", WrongShape, "%s is none of %s", quoted(p.Operator), countersign.OperatorNames())
	case operator.Orders && kindOf(v.Type) != countersign.KindNumber && kindOf(v.Type) != countersign.KindAbsent:
		c.fail(at()+".operator", OperatorTypeMismatch, "%s compares numbers; variable %s is a %s: use eq or neq", p.Operator, quoted(v.ID), clipped(v.Type))
	case operator.Takes():
		c.operand(at, v, p)
	}
}

func (c *checker) operand(at func() string, v *variable, p *countersign.Predicate) {
	if p.Value.IsZero() {
		c.fail(at()+".value", ValueMissing, "%s needs a value to compare %s with", p.Operator, quoted(v.ID))
	}
	if code, message := v.misfit(p.Value); code != "" {
		c.fail(at()+".value", code, "%s", message)
	}
}

// compares reports an operator that takes a value.
func compares(operator string) bool {
	o, _ := countersign.OperatorNamed(operator)
	return o.Takes()
}

func isOperator(operator string) bool {
	_, is := countersign.OperatorNamed(operator)
	return is
}
