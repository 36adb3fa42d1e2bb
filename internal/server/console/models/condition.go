package models

import (
	"strconv"

	"github.com/countersign/countersign"
)

// The condition of a transition as a form: comparisons of which all or any must hold. One
// that is joined to the one above it counts with that as one: any of the two where all must
// hold, both where any is enough. A condition that is nested deeper is kept as it is.

// compareRow is one row of a condition.
type compareRow struct {
	N                         int
	Variable, Operator, Value string
	Joined                    bool   // to the row above
	Path                      string // of the predicate in the stored condition, below "condition"
	Wrong                     string
}

// Empty rows of a form.
const (
	fewRows  = 1
	manyRows = 4
	mostRows = 100
)

// comparisonRows are the comparisons of a condition; flat is false if they can't say it.
func comparisonRows(c countersign.Condition, kindOf func(id string) string) (rows []compareRow, either, flat bool) {
	add := func(p *countersign.Predicate, path string, joined bool) {
		rows = append(rows, compareRow{N: len(rows), Variable: p.VariableID, Operator: p.Operator, Value: shownScalar(kindOf(p.VariableID), p.Value), Joined: joined, Path: path})
	}
	switch {
	case c.Predicate != nil:
		add(c.Predicate, "", false)
		return rows, false, true
	case c.Group == nil:
		return nil, false, false
	}
	either = c.Group.Combinator == countersign.CombinatorOr
	if either && len(c.Group.Conditions) == 0 {
		return nil, false, false // never: comparisons can't say it
	}
	for i, part := range c.Group.Conditions {
		path := ".conditions[" + strconv.Itoa(i) + "]"
		if part.Predicate != nil {
			add(part.Predicate, path, false)
			continue
		}
		if part.Group == nil || part.Group.Combinator == c.Group.Combinator || len(part.Group.Conditions) < 2 {
			return nil, false, false
		}
		for j, inner := range part.Group.Conditions {
			if inner.Predicate == nil {
				return nil, false, false
			}
			add(inner.Predicate, path+".conditions["+strconv.Itoa(j)+"]", j > 0)
		}
	}
	return rows, either, len(rows) <= mostRows
}

// conditionOf makes a condition of comparisons: none always holds. A single one is a
// predicate without a group if bare.
func conditionOf(rows []compareRow, either bool, values []countersign.Scalar, bare bool) countersign.Condition {
	outer, inner := countersign.CombinatorAnd, countersign.CombinatorOr
	if either && len(rows) > 0 {
		outer, inner = inner, outer
	}
	var parts []countersign.Condition
	for i := 0; i < len(rows); {
		var together []countersign.Condition
		for first := i; i < len(rows) && (i == first || rows[i].Joined); i++ {
			together = append(together, countersign.Condition{Predicate: &countersign.Predicate{Kind: "predicate", VariableID: rows[i].Variable, Operator: rows[i].Operator, Value: values[i]}})
		}
		if len(together) == 1 {
			parts = append(parts, together[0])
		} else {
			parts = append(parts, joined(inner, together))
		}
	}
	if bare && len(parts) == 1 && parts[0].Predicate != nil {
		return parts[0]
	}
	return joined(outer, parts)
}

func joined(combinator string, parts []countersign.Condition) countersign.Condition {
	if parts == nil {
		parts = []countersign.Condition{}
	}
	return countersign.Condition{Group: &countersign.ConditionGroup{Kind: "group", Combinator: combinator, Conditions: parts}}
}
