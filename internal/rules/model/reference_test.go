package model_test

import (
	"math/big"
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// interpreter is contract 4 a second time, as plainly as it can be said: it
// walks the document by linear search, keeps a map of values and a list of every
// point it has been at, and shares nothing with the machine.
type interpreter struct {
	doc    *countersign.AgentModel
	values map[string]countersign.Scalar
	seen   []string
	sim    countersign.Simulation
}

func interpret(doc *countersign.AgentModel, s *countersign.Scenario, inputs given) countersign.Simulation {
	in := interpreter{doc: doc, values: map[string]countersign.Scalar{}}
	in.sim = countersign.Simulation{ScenarioID: s.ID, Trace: []countersign.TraceEntry{}, Mismatches: []countersign.Mismatch{}}
	for _, v := range doc.Variables {
		in.values[v.ID] = v.DefaultValue
		for _, layer := range []given{s.InitialMemory, s.Inputs, inputs} {
			if value, ok := layer[v.ID]; ok {
				in.values[v.ID] = value
			}
		}
	}
	for _, state := range doc.States {
		if state.IsStart {
			in.sim.FinalStateID = state.ID
		}
	}
	in.sim.Path = []string{in.sim.FinalStateID}
	for in.sim.Outcome == "" {
		in.step()
	}
	in.sim.Values = in.values
	in.expect("expectedStateId", countersign.String(s.ExpectedStateID), countersign.String(in.sim.FinalStateID))
	in.expect("expectedPath", array(s.ExpectedPath), array(in.sim.Path))
	in.expect("expectedResult", countersign.String(s.ExpectedResult), countersign.String(in.sim.Result))
	in.sim.Passed = len(in.sim.Mismatches) == 0 && in.sim.Outcome != "loop"
	return in.sim
}

func array(texts []string) countersign.Value {
	parts := []string{}
	for _, s := range texts {
		parts = append(parts, countersign.String(s).Raw())
	}
	return countersign.RawValue("[" + strings.Join(parts, ",") + "]")
}

func (in *interpreter) expect(field string, expected, actual countersign.Value) {
	if expected.Raw() != actual.Raw() {
		in.sim.Mismatches = append(in.sim.Mismatches, countersign.Mismatch{Field: field, Expected: expected, Actual: actual})
	}
}

func (in *interpreter) step() {
	for _, state := range in.doc.States {
		if state.ID == in.sim.FinalStateID && state.IsFinal {
			in.sim.Outcome = "final"
			return
		}
	}
	if slices.Contains(in.seen, in.point()) {
		in.sim.Outcome = "loop"
		return
	}
	in.seen = append(in.seen, in.point())
	predicates := []countersign.PredicateTrace{}
	for priority := int64(0); priority < 10; priority++ {
		for i := range in.doc.Transitions {
			t := &in.doc.Transitions[i]
			if t.Priority == priority && t.FromStateID == in.sim.FinalStateID && in.holds(t.ID, t.Condition, &predicates) {
				in.take(t, predicates)
				return
			}
		}
	}
	in.sim.Outcome = "stuck"
}

func (in *interpreter) take(t *countersign.Transition, predicates []countersign.PredicateTrace) {
	entry := countersign.TraceEntry{
		From: t.FromStateID, To: t.ToStateID, TransitionID: t.ID, ActionID: t.ActionID,
		Predicates: predicates, Effects: []countersign.MemoryEffect{},
	}
	for _, a := range in.doc.Actions {
		if a.ID != t.ActionID {
			continue
		}
		for _, e := range a.MemoryEffects {
			in.values[e.VariableID] = e.Value
			entry.Effects = append(entry.Effects, e)
		}
		in.sim.Result = a.SimulatedResult
	}
	in.sim.Trace = append(in.sim.Trace, entry)
	in.sim.Path = append(in.sim.Path, t.ToStateID)
	in.sim.FinalStateID = t.ToStateID
}

// point writes the state and all values, numbers as fractions.
func (in *interpreter) point() string {
	parts := []string{in.sim.FinalStateID}
	for _, v := range in.doc.Variables {
		value := in.values[v.ID]
		switch value.Kind() {
		case countersign.KindNumber:
			parts = append(parts, rational(value).RatString())
		case countersign.KindString:
			parts = append(parts, "'"+value.Text())
		default:
			parts = append(parts, value.Raw())
		}
	}
	return strings.Join(parts, "\x00")
}

func rational(v countersign.Scalar) *big.Rat {
	r, ok := new(big.Rat).SetString(v.Raw())
	if !ok {
		panic("not a number: " + v.Raw())
	}
	return r
}

func (in *interpreter) holds(transition string, c countersign.Condition, looked *[]countersign.PredicateTrace) bool {
	if p := c.Predicate; p != nil {
		actual := in.values[p.VariableID]
		holds := satisfies(p.Operator, actual, p.Value)
		*looked = append(*looked, countersign.PredicateTrace{
			TransitionID: transition, VariableID: p.VariableID, Operator: p.Operator, Value: p.Value, Actual: actual, Holds: holds,
		})
		return holds
	}
	for _, member := range c.Group.Conditions {
		holds := in.holds(transition, member, looked)
		if c.Group.Combinator == "AND" && !holds {
			return false
		}
		if c.Group.Combinator == "OR" && holds {
			return true
		}
	}
	return c.Group.Combinator == "AND"
}

func satisfies(operator string, actual, value countersign.Scalar) bool {
	if actual.IsNull() {
		return operator == "isUnknown"
	}
	switch operator {
	case "isUnknown":
		return false
	case "isKnown":
		return true
	case "eq":
		return same(actual, value)
	case "neq":
		return !same(actual, value)
	}
	if value.IsNull() {
		return false
	}
	order := rational(actual).Cmp(rational(value))
	switch operator {
	case "gt":
		return order > 0
	case "gte":
		return order >= 0
	case "lt":
		return order < 0
	default:
		return order <= 0
	}
}

func same(a, b countersign.Scalar) bool {
	if a.Kind() != b.Kind() {
		return false
	}
	if a.Kind() == countersign.KindNumber {
		return rational(a).Cmp(rational(b)) == 0
	}
	return a.Text() == b.Text()
}
