package gate

import (
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/inputs"
	"github.com/countersign/countersign/internal/rules/model"
)

// table enumerates the inputs that a capability's rules distinguish: for each path one
// value of each set that no comparison tells apart, and none at all. What holds of all its
// rows holds of all inputs.
type table struct {
	paths  []string
	values [][]inputs.Reading // of each path
	rows   int
	cost   int // of judging each row once: how many predicates are compared
	steps  int // what that takes at most
}

// maxCost bounds what is examined: beyond it nothing is claimed.
const maxCost = 2_000_000

// newTable makes the table of several rule sets; false if it would be too large. With
// mistyped, a path may also have a value of a type that no rule compares it with.
func newTable(mistyped bool, sets ...[]countersign.ApprovalRule) (*table, bool) {
	constants := map[string][]countersign.Scalar{}
	predicates, steps := 1, 1
	for _, rules := range sets {
		for i := range rules {
			EachPredicate(&rules[i].When, func(p *countersign.Predicate) {
				constants[p.VariableID] = append(constants[p.VariableID], p.Value)
				predicates, steps = predicates+1, steps+1+2*len(p.Value.Raw())
			})
		}
	}
	t := &table{rows: 1}
	for path := range constants {
		t.paths = append(t.paths, path)
	}
	slices.Sort(t.paths)
	for _, path := range t.paths {
		var values []inputs.Reading
		for _, v := range model.Samples(constants[path]) {
			values = append(values, inputs.Reading{Value: v.Value})
		}
		// Below all constants a negative number shows best what has no lower bound.
		if len(values) > 0 && values[0].Value.Kind() == countersign.KindNumber && countersign.ParseNumber(values[0].Value.Raw()).Compare(countersign.ParseNumber("-1")) > 0 {
			values[0].Value = countersign.Int(-1)
		}
		if len(values) == 0 { // only asked whether it is known
			values = append(values, inputs.Reading{Value: countersign.String("anything")})
		}
		if mistyped {
			values = append(values, inputs.Reading{Value: countersign.ObjectValue(nil)})
		}
		values = append(values, inputs.Reading{})
		t.values = append(t.values, values)
		t.rows *= len(values)
		if t.cost = t.rows * predicates; t.cost > maxCost {
			return nil, false
		}
		t.steps = t.rows * steps
	}
	return t, true
}

// EachPredicate visits the predicates of a condition.
func EachPredicate(c *countersign.Condition, visit func(*countersign.Predicate)) {
	if c.Predicate != nil {
		visit(c.Predicate)
	}
	if c.Group == nil {
		return
	}
	for i := range c.Group.Conditions {
		EachPredicate(&c.Group.Conditions[i], visit)
	}
}

// row is one assignment: the value of each path, by its number.
type row struct {
	t      *table
	choice []int
}

// each visits the rows until visit returns false.
func (t *table) each(visit func(row) bool) {
	r := row{t, make([]int, len(t.paths))}
	for range t.rows {
		if !visit(r) {
			return
		}
		for i := range r.choice {
			if r.choice[i]++; r.choice[i] < len(t.values[i]) {
				break
			}
			r.choice[i] = 0
		}
	}
}

func (r row) reader() reader { return reader{at: r.read} }

func (r row) read(path string) inputs.Reading {
	i, found := slices.BinarySearch(r.t.paths, path)
	if !found {
		return inputs.Reading{}
	}
	return r.t.values[i][r.choice[i]]
}

func (r row) clone() row { return row{r.t, slices.Clone(r.choice)} }

func (r row) present() (n int) {
	for i, c := range r.choice {
		if r.t.values[i][c].Known() {
			n++
		}
	}
	return n
}

// with is the row with another value of one path.
func (r row) with(path, choice int) row {
	next := row{r.t, slices.Clone(r.choice)}
	next.choice[path] = choice
	return next
}

// size is what making inputs of the row takes.
func (r row) size() (steps int) {
	for i, path := range r.t.paths {
		steps += 10 + len(path) + len(r.t.values[i][r.choice[i]].Value.Raw())
	}
	return steps
}

// inputs are the row as inputs of a request; false if its paths can't stand beside each
// other.
func (r row) inputs() (map[string]countersign.Value, bool) {
	root := node{}
	for i, path := range r.t.paths {
		if v := r.t.values[i][r.choice[i]]; v.Known() && !root.set(strings.Split(path, "."), v.Value) {
			return nil, false
		}
	}
	out := map[string]countersign.Value{}
	for name, below := range root {
		out[name] = below.value()
	}
	return out, true
}

// node is an object that is being built, or a value.
type node map[string]*branch

type branch struct {
	leaf  countersign.Value
	below node
}

func (n node) set(path []string, v countersign.Value) bool {
	at := n[path[0]]
	switch {
	case at == nil && len(path) == 1:
		n[path[0]] = &branch{leaf: v}
		return true
	case at == nil:
		at = &branch{below: node{}}
		n[path[0]] = at
	case at.below == nil || len(path) == 1:
		return false
	}
	return at.below.set(path[1:], v)
}

func (b *branch) value() countersign.Value {
	if b.below == nil {
		return b.leaf
	}
	members := map[string]countersign.Value{}
	for name, below := range b.below {
		members[name] = below.value()
	}
	return countersign.ObjectValue(members)
}
