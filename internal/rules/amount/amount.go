// Package amount says which number of a request people look at first: the first one that its
// capability's title, rules or budgets name.
package amount

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/gate"
	"github.com/countersign/countersign/internal/rules/request"
)

// Named are the paths that a capability's title, rules and budgets name, in this order.
func Named(c *countersign.Capability) (paths []string) {
	request.Title(c.Title, func(place string) (countersign.Value, bool) {
		paths = append(paths, place)
		return countersign.Value{}, false
	})
	for i := range c.ApprovalRules {
		gate.EachPredicate(&c.ApprovalRules[i].When, func(p *countersign.Predicate) { paths = append(paths, p.VariableID) })
	}
	for _, b := range c.Budgets {
		if b.Sum != "" {
			paths = append(paths, b.Sum)
		}
	}
	return paths
}

// Of finds the first path that names a number of these inputs, and the number. A path that can
// be read in two ways names none.
func Of(m *cost.Meter, c *countersign.Capability, input map[string]countersign.Value) (field string, n countersign.Number, ok bool) {
	at := request.InputsAt(m, input)
	for _, path := range Named(c) {
		if n, ok := number(at(path)); ok {
			return path, n, true
		}
	}
	return "", n, false
}

// At is the number that a path names, if it names one.
func At(m *cost.Meter, path string, input map[string]countersign.Value) (countersign.Number, bool) {
	return number(request.InputsAt(m, input)(path))
}

func number(v countersign.Value, ok bool) (n countersign.Number, is bool) {
	if !ok || v.Kind() != countersign.KindNumber {
		return n, false
	}
	return countersign.ParseNumber(v.Raw()), true
}
