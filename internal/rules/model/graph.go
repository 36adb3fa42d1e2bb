package model

import (
	"fmt"
	"strconv"

	"github.com/countersign/countersign"
)

// graph is the static transition graph of a document, independent of values. It
// also works for documents with errors.
type graph struct {
	doc        *countersign.AgentModel
	ix         *index
	order      [][]int
	neverTaken []string // by transition: why it can never be taken, "" if it can
}

func newGraph(doc *countersign.AgentModel, ix *index, order [][]int) *graph {
	g := &graph{doc: doc, ix: ix, order: order, neverTaken: make([]string, len(doc.Transitions))}
	for _, list := range order {
		g.findShadowed(list)
	}
	return g
}

// findShadowed finds the transitions of one state that are never taken because their
// conditions are constantly false, or follow one that is constantly true or identical.
func (g *graph) findShadowed(order []int) {
	always := ""
	same := map[string]string{}
	for _, i := range order {
		t := &g.doc.Transitions[i]
		constant := constancy(&t.Condition)
		switch {
		case always != "":
			g.neverTaken[i] = fmt.Sprintf("transition %s is tried first and its condition is always true", always)
			continue
		case constant == alwaysFalse:
			g.neverTaken[i] = "its condition is never true"
			continue
		case constant == alwaysTrue:
			always = quoted(t.ID)
		}
		if len(order) > 1 {
			g.sameAs(i, same)
		}
	}
}

func (g *graph) sameAs(i int, same map[string]string) {
	t := &g.doc.Transitions[i]
	key := string(appendCondition(nil, &t.Condition))
	if first, found := same[key]; found {
		g.neverTaken[i] = fmt.Sprintf("transition %s has the same condition and is tried first", first)
		return
	}
	same[key] = quoted(t.ID)
}

// appendCondition appends a canonical form of a condition.
func appendCondition(b []byte, c *countersign.Condition) []byte {
	if p := c.Predicate; p != nil {
		b = strconv.AppendQuote(b, p.VariableID)
		b = strconv.AppendQuote(b, p.Operator)
		if compares(p.Operator) {
			b = append(b, p.Value.Canonical()...)
		}
		return append(b, ';')
	}
	if c.Group == nil {
		return append(b, '?')
	}
	b = append(strconv.AppendQuote(b, c.Group.Combinator), '[')
	for i := range c.Group.Conditions {
		b = appendCondition(b, &c.Group.Conditions[i])
	}
	return append(b, ']')
}

// constancyResult says whether a condition has the same result for all values.
type constancyResult int

const (
	depends constancyResult = iota
	alwaysFalse
	alwaysTrue
)

func constancy(c *countersign.Condition) constancyResult {
	switch {
	case c.Predicate != nil:
		if isOperator(c.Predicate.Operator) && !c.Predicate.Value.IsZero() && holdsIn(c.Predicate) == isNothing {
			return alwaysFalse
		}
		return depends
	case c.Group == nil:
		return depends
	case c.Group.Combinator == countersign.CombinatorAnd:
		return groupConstancy(c.Group, alwaysTrue, alwaysFalse)
	default:
		return groupConstancy(c.Group, alwaysFalse, alwaysTrue)
	}
}

// groupConstancy returns empty for a group without members, and decided as soon as one
// member is decided.
func groupConstancy(g *countersign.ConditionGroup, empty, decided constancyResult) constancyResult {
	all := empty
	for i := range g.Conditions {
		switch constancy(&g.Conditions[i]) {
		case decided:
			return decided
		case depends:
			all = depends
		}
	}
	return all
}

// reachable marks the states reachable from the start states. ok is false if there are
// none.
func (g *graph) reachable() (reached []bool, ok bool) {
	reached = make([]bool, len(g.doc.States))
	var queue []int
	for i := range g.doc.States {
		if g.doc.States[i].IsStart {
			reached[i], queue = true, append(queue, i)
		}
	}
	ok = len(queue) > 0
	for ; len(queue) > 0; queue = queue[1:] {
		for _, i := range g.order[queue[0]] {
			to, exists := g.ix.states[g.doc.Transitions[i].ToStateID]
			if exists && g.neverTaken[i] == "" && !reached[to] {
				reached[to], queue = true, append(queue, to)
			}
		}
	}
	return reached, ok
}

// hasExit reports whether some transition can lead out of a state.
func (g *graph) hasExit(state int) bool {
	for _, i := range g.order[state] {
		if g.neverTaken[i] == "" && g.doc.Transitions[i].ToStateID != g.doc.States[state].ID {
			return true
		}
	}
	return false
}
