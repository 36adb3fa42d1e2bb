package model

import "github.com/countersign/countersign"

// The order relation between a value and a constant, as bits: a predicate is the
// set of relations in which it holds. An unknown value has a relation of its own,
// which only isUnknown accepts (contract 4).
const (
	isLess relation = 1 << iota
	isEqual
	isGreater
	isUnknown
	isKnown            = isLess | isEqual | isGreater
	isNothing relation = 0
)

type relation uint8

func relationOf(cell, rank int32) relation {
	switch {
	case cell == unknown:
		return isUnknown
	case cell < rank:
		return isLess
	case cell > rank:
		return isGreater
	default:
		return isEqual
	}
}

// holdsIn returns the relations in which a predicate holds. No known value
// equals null, so every known one is `neq null`, and none is ordered by it.
func holdsIn(p *countersign.Predicate) relation {
	withNull := compares(p.Operator) && !known(p.Value)
	switch {
	case p.Operator == countersign.OpIsUnknown:
		return isUnknown
	case p.Operator == countersign.OpIsKnown, withNull && p.Operator == countersign.OpNotEqual:
		return isKnown
	case withNull:
		return isNothing
	default:
		return comparison(p.Operator)
	}
}

// comparison returns the relations of two known values in which an operator holds.
func comparison(operator string) (in relation) {
	o, _ := countersign.OperatorNamed(operator)
	if o.Less {
		in |= isLess
	}
	if o.Equal {
		in |= isEqual
	}
	if o.Greater {
		in |= isGreater
	}
	return in
}

// test is a compiled predicate with its two jump targets: the index of the next
// test, accept or reject.
type test struct {
	slot, rank int32
	in         relation
	yes, no    int32
}

const (
	accept int32 = -1
	reject int32 = -2
)

func (t *test) holds(cells []int32) bool {
	return t.in&relationOf(cells[t.slot], t.rank) != 0
}

// program holds all conditions of a model as tests with jumps; a condition is
// identified by its entry test. AND and OR exist only as jumps: evaluation
// short-circuits, and nesting costs nothing at run time.
type program struct {
	tests      []test
	predicates []*countersign.Predicate // what each test was compiled from
}

// emit compiles a condition that continues at yes or no and returns its entry.
// It emits the last member first, so every jump leads to a test that was emitted
// earlier: evaluation terminates.
func (p *program) emit(c *countersign.Condition, slots func(*countersign.Predicate) test, yes, no int32) int32 {
	if c.Predicate != nil {
		t := slots(c.Predicate)
		t.yes, t.no = yes, no
		p.tests = append(p.tests, t)
		p.predicates = append(p.predicates, c.Predicate)
		return int32(len(p.tests) - 1)
	}
	and := c.Group.Combinator == countersign.CombinatorAnd
	entry := no // OR [] is false
	if and {
		entry = yes // AND [] is true
	}
	for i := len(c.Group.Conditions) - 1; i >= 0; i-- {
		member := &c.Group.Conditions[i]
		if and {
			entry = p.emit(member, slots, entry, no)
		} else {
			entry = p.emit(member, slots, yes, entry)
		}
	}
	return entry
}

// accepts evaluates the condition at entry and subtracts the cost from budget.
func (p *program) accepts(entry int32, cells []int32, budget *int) bool {
	for entry >= 0 {
		t := &p.tests[entry]
		if entry = t.no; t.holds(cells) {
			entry = t.yes
		}
		*budget--
	}
	return entry == accept
}
