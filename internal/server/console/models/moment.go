package models

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/text"
)

// moment describes the current state of a simulation.
type moment struct {
	Name, Line string
	Tried      []tried
	Untried    int
	Note       string // why no transition is taken
}

// tried is an evaluated transition and its predicates.
type tried struct {
	Name, To   string
	Priority   int64
	Several    bool // the state has others, so the priority matters
	Taken      bool
	Words      string // the condition, if no predicate was recorded
	Predicates []met
}

// met is a predicate with the actual value.
type met struct {
	Words, Actual string
	Unknown       bool
	Holds         bool
}

// outOf are a state's transitions in the order of evaluation (contract 4): by priority,
// then by position in the document.
func outOf(doc countersign.AgentModel, stateID string) []countersign.Transition {
	var out []countersign.Transition
	for _, t := range doc.Transitions {
		if t.FromStateID == stateID {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b countersign.Transition) int { return int(min(1, max(-1, a.Priority-b.Priority))) })
	return out
}

func momentOf(doc countersign.AgentModel, p *player) moment {
	names := stateNames(doc)
	id := p.sim.Path[p.At-1]
	m := moment{Name: names.of(id), Line: stepOf(p)}
	out := outOf(doc, id)
	if p.At == p.Last {
		m.end(p, out, names)
		return m
	}
	entry := p.sim.Trace[p.At-1]
	m.Line += ", goes to " + names.of(entry.To)
	units := unitsOf(doc)
	for i, t := range out {
		row := triedOf(t, len(out) > 1, names)
		row.Taken = t.ID == entry.TransitionID
		for _, seen := range entry.Predicates {
			if seen.TransitionID == t.ID {
				row.Predicates = append(row.Predicates, metOf(seen, units))
			}
		}
		m.Tried = append(m.Tried, row)
		if row.Taken {
			m.Untried = len(out) - i - 1
			break
		}
	}
	return m
}

func stepOf(p *player) string { return "step " + strconv.Itoa(p.At) + " of " + strconv.Itoa(p.Last) }

func triedOf(t countersign.Transition, several bool, names stateWords) tried {
	return tried{Name: cmp.Or(t.Name, t.ID), To: names.of(t.ToStateID), Priority: t.Priority, Several: several, Words: text.ConditionWords(t.Condition)}
}

func metOf(seen countersign.PredicateTrace, units map[string]string) met {
	return met{
		Words: text.PredicateWords(seen.VariableID, seen.Operator, seen.Value), Actual: valueWords(seen.Actual, units[seen.VariableID]),
		Unknown: unknown(seen.Actual), Holds: seen.Holds,
	}
}

// end says why the simulation ends here. A trace records only states where a transition
// was taken, so the conditions of the last state are shown whole.
func (m *moment) end(p *player, out []countersign.Transition, names stateWords) {
	switch p.sim.Outcome {
	case countersign.OutcomeFinal:
		m.Note = "This state is final: nothing is tried."
	case countersign.OutcomeLoop:
		m.Note = "State and values were here before, so the rest would repeat for ever."
	default:
		m.Note = "No condition holds and the state is not final: the simulation ends stuck."
		if len(out) == 0 {
			m.Note = "Nothing leads out of this state and it is not final: the simulation ends stuck."
		}
		for _, t := range out {
			m.Tried = append(m.Tried, triedOf(t, len(out) > 1, names))
		}
	}
}

// valueRow is a variable's value at a step; Set means that the step before set it.
type valueRow struct {
	ID, Name, Value string
	Unknown, Set    bool
}

// valuesAt are the variables' values at the player's step (contract 4): memory starts
// from initialMemory over defaultValue, inputs from the given ones over the scenario's
// over defaultValue; then the effects of the taken transitions apply.
func valuesAt(doc countersign.AgentModel, s *countersign.Scenario, given map[string]countersign.Scalar, p *player) []valueRow {
	now, set := map[string]countersign.Scalar{}, map[string]bool{}
	for _, layer := range []map[string]countersign.Scalar{s.InitialMemory, s.Inputs, given} {
		maps.Copy(now, layer)
	}
	for i, taken := range p.sim.Trace[:p.At-1] {
		for _, e := range taken.Effects {
			now[e.VariableID] = e.Value
			if i == p.At-2 {
				set[e.VariableID] = true
			}
		}
	}
	rows := make([]valueRow, len(doc.Variables))
	for i, variable := range doc.Variables {
		value, ok := now[variable.ID]
		if !ok {
			value = variable.DefaultValue
		}
		rows[i] = valueRow{variable.ID, variable.Name, valueWords(value, variable.Unit), unknown(value), set[variable.ID]}
	}
	return rows
}

func unknown(s countersign.Scalar) bool { return s.IsZero() || s.IsNull() }

// valueWords is a value with its unit; null is unknown.
func valueWords(s countersign.Scalar, unit string) string {
	switch {
	case unknown(s):
		return "unknown"
	case unit != "" && s.Kind() == countersign.KindNumber:
		return text.Inline(s) + " " + unit
	}
	return text.Inline(s)
}

func unitsOf(doc countersign.AgentModel) map[string]string {
	units := map[string]string{}
	for _, variable := range doc.Variables {
		units[variable.ID] = variable.Unit
	}
	return units
}
