package model

import (
	"fmt"

	"github.com/countersign/countersign"
)

// Validate returns the errors (contract 4) and warnings of a document, each in
// document order. In a document with errors it skips the scenarios and the checks that
// need compiled conditions. Its cost is bounded by the size of the document plus a
// constant.
func Validate(doc *countersign.AgentModel) countersign.Validation {
	ix := newIndex(doc)
	order := tryOrder(doc, ix)
	errors := check(doc, ix)
	w := warner{graph: newGraph(doc, ix, order), warnings: []countersign.Problem{}, explored: map[entry][]countersign.Problem{}}
	if len(errors) == 0 {
		w.machine = compile(doc, ix, order)
		w.machine.untaken(w.neverTaken)
	}
	w.warnFromExploration()
	w.states()
	w.transitions()
	w.scenarios()
	return countersign.Validation{Valid: len(errors) == 0, Errors: errors, Warnings: w.warnings}
}

// warner collects the warnings of a document, section by section.
type warner struct {
	*graph
	machine  *Machine // nil when there are errors
	warnings []countersign.Problem
	explored map[entry][]countersign.Problem // warnings of the exploration, by place
}

func (w *warner) warn(path, code, format string, args ...any) {
	w.warnings = append(w.warnings, countersign.Problem{Path: path, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (w *warner) states() {
	w.warnings = append(w.warnings, w.explored[entry{"states", -1}]...)
	reached, started := w.reachable()
	for i := range w.doc.States {
		s, at := &w.doc.States[i], entry{"states", i}.String
		if started && !reached[i] {
			w.warn(at(), UnreachableState, "no transition that can be taken leads from the start to state %s; lead one there or remove it", quoted(s.ID))
		}
		if !s.IsFinal && !w.hasExit(i) {
			w.warn(at(), DeadEndState, "state %s is not final and nothing leads out of it; mark it final or add a transition", quoted(s.ID))
		}
		w.warnings = append(w.warnings, w.explored[entry{"states", i}]...)
	}
}

func (w *warner) transitions() {
	w.warnings = append(w.warnings, w.explored[entry{"transitions", -1}]...)
	for i := range w.doc.Transitions {
		t := &w.doc.Transitions[i]
		if why := w.neverTaken[i]; why != "" {
			w.warn(entry{"transitions", i}.String(), TransitionNeverTaken, "transition %s can never be taken: %s", quoted(t.ID), why)
		}
		w.warnings = append(w.warnings, w.explored[entry{"transitions", i}]...)
		eachCondition(&t.Condition, nil, func(c *countersign.Condition, nest []int) {
			if c.Predicate != nil {
				w.operand(c.Predicate, func() string { return conditionPath(i, nest) + ".value" })
			}
		})
	}
}

func (w *warner) operand(p *countersign.Predicate, at func() string) {
	switch {
	case compares(p.Operator) && p.Value.IsNull() && p.Operator == countersign.OpNotEqual:
		w.warn(at(), ComparesWithNull, "neq null is true for every known value; isKnown says so plainly")
	case compares(p.Operator) && p.Value.IsNull():
		w.warn(at(), ComparesWithNull, "%s null is never true; isUnknown asks for a value that is not known", p.Operator)
	case isOperator(p.Operator) && !compares(p.Operator) && known(p.Value):
		w.warn(at(), ValueIgnored, "%s compares with nothing, so the value is ignored; leave it out", p.Operator)
	}
}
