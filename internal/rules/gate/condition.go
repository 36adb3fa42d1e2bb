package gate

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/inputs"
)

// reader reads inputs by their paths, and counts what comparing them takes.
type reader struct {
	at    func(path string) inputs.Reading
	meter *cost.Meter
}

// truth is a truth value of three-valued logic, ordered so that AND is the least and OR the
// greatest, as in SQL.
type truth int8

const (
	isFalse truth = iota
	isUnknown
	isTrue
)

func truthOf(b bool) truth {
	if b {
		return isTrue
	}
	return isFalse
}

// holds evaluates a condition. An empty AND is true, an empty OR false, as in models.
func holds(c *countersign.Condition, read reader) truth {
	if c.Group == nil {
		return read.compare(c.Predicate, read.at(c.Predicate.VariableID))
	}
	and := c.Group.Combinator == countersign.CombinatorAnd
	out := truthOf(and)
	for i := range c.Group.Conditions {
		part := holds(&c.Group.Conditions[i], read)
		if and {
			out = min(out, part)
		} else {
			out = max(out, part)
		}
	}
	return out
}

// compare evaluates a predicate. What isn't there is unknown, and so is a value of another
// type than the one that it is compared with: nothing says how they relate.
func (r reader) compare(p *countersign.Predicate, is inputs.Reading) truth {
	operator, _ := countersign.OperatorNamed(p.Operator) // no PUT accepts another
	switch {
	case !r.meter.Take(stepsOf(p, is), "approvalRules"), is.Unclear:
		return isUnknown
	case p.Operator == countersign.OpIsKnown:
		return truthOf(is.Known())
	case p.Operator == countersign.OpIsUnknown:
		return truthOf(!is.Known())
	case !is.Known() || is.Value.Kind() != p.Value.Kind():
		return isUnknown
	case operator.Orders && is.Value.Kind() == countersign.KindNumber:
		return truthOf(operator.Holds(countersign.ParseNumber(is.Value.Raw()).Compare(countersign.ParseNumber(p.Value.Raw()))))
	case operator.Orders || !operator.Takes():
		return isUnknown
	case is.Value.Equal(p.Value.Value):
		return truthOf(operator.Equal)
	}
	return truthOf(!operator.Equal)
}

// stepsOf is what a comparison takes: of two numbers or texts it reads both.
func stepsOf(p *countersign.Predicate, is inputs.Reading) int {
	if is.Unclear || p.Operator == countersign.OpIsKnown || p.Operator == countersign.OpIsUnknown || is.Value.Kind() != p.Value.Kind() {
		return 1
	}
	return 1 + len(is.Value.Raw()) + len(p.Value.Raw())
}
