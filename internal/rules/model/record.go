package model

import (
	"slices"

	"github.com/countersign/countersign"
)

// recorder replays a trace and writes the answer. left is the remaining size of the
// answer, in bytes of JSON.
type recorder struct {
	m          *Machine
	sim        countersign.Simulation
	cells      []int32
	values     []countersign.Scalar
	predicates []countersign.PredicateTrace // of the current state; copied into its entry
	visits     *[]ActionVisit               // nil when they are not asked for
	left       int
}

// The size of an answer's parts as JSON, without the texts in them.
const (
	bytesOfEntry     = 90
	bytesOfPredicate = 90
	bytesOfEffect    = 30
	bytesOfValue     = 60 // in a visit: not JSON but a map's entry
)

func newRecorder(m *Machine, values []countersign.Scalar, cells []int32, visits *[]ActionVisit) *recorder {
	return &recorder{m: m, values: values, cells: cells, visits: visits, left: m.limit.Bytes}
}

// record writes everything but the verdict; false if the answer would be too long.
func (r *recorder) record(c trace) bool {
	if len(c.arcs) > r.left/bytesOfEntry {
		return false
	}
	r.sim.Outcome = c.outcome
	r.sim.Path = r.m.path(c)
	r.sim.FinalStateID = r.sim.Path[len(c.arcs)]
	r.sim.Result = r.m.result(c)
	r.sim.Trace = make([]countersign.TraceEntry, 0, len(c.arcs))
	state := r.m.start
	for _, arc := range c.arcs {
		r.step(state, arc)
		state = r.m.arcs[arc].to
		if r.left < 0 {
			return false
		}
	}
	r.sim.Values = r.named()
	return true
}

func (r *recorder) step(state, taken int32) {
	a := &r.m.arcs[taken]
	r.predicates = r.predicates[:0]
	for i := r.m.nodes[state].arcs; i <= taken; i++ {
		r.evaluate(&r.m.arcs[i])
	}
	entry := countersign.TraceEntry{
		From: a.transition.FromStateID, To: a.transition.ToStateID, TransitionID: a.transition.ID,
		Predicates: append([]countersign.PredicateTrace{}, r.predicates...), Effects: []countersign.MemoryEffect{},
	}
	// The path has the state once more, and a mismatch may have the path again.
	r.left -= bytesOfEntry + len(entry.From) + 3*len(entry.To) + len(entry.TransitionID)
	if a.action != nil {
		entry.ActionID = a.action.ID
		r.act(a, &entry)
	}
	r.sim.Trace = append(r.sim.Trace, entry)
}

// evaluate evaluates a transition's condition as accepts does and records each
// predicate.
func (r *recorder) evaluate(a *arc) {
	for at := a.entry; at >= 0 && r.left >= 0; {
		t, p := &r.m.tests[at], r.m.predicates[at]
		seen := countersign.PredicateTrace{
			TransitionID: a.transition.ID, VariableID: p.VariableID, Operator: p.Operator,
			Value: p.Value, Actual: r.values[t.slot], Holds: t.holds(r.cells),
		}
		r.predicates = append(r.predicates, seen)
		r.left -= bytesOfPredicate + len(seen.TransitionID) + len(seen.VariableID) + len(seen.Value.Raw()) + len(seen.Actual.Raw())
		if at = t.no; seen.Holds {
			at = t.yes
		}
	}
}

// act records the visit first, since a plan reads the values before the action's own
// effects.
func (r *recorder) act(a *arc, entry *countersign.TraceEntry) {
	r.visit(a)
	r.left -= len(a.action.ID)
	if len(a.effects) > 0 {
		entry.Effects = slices.Clip(a.action.MemoryEffects)
	}
	for i, e := range a.effects {
		r.cells[e.slot], r.values[e.slot] = e.rank, shown(entry.Effects[i].Value)
		r.left -= bytesOfEffect + len(entry.Effects[i].VariableID) + len(entry.Effects[i].Value.Raw())
	}
}

func (r *recorder) visit(a *arc) {
	if r.visits == nil || r.left < 0 {
		return
	}
	*r.visits = append(*r.visits, ActionVisit{ActionID: a.action.ID, TransitionID: a.transition.ID, Values: r.named()})
	r.left -= bytesOfValue * len(r.values)
}

// named maps each variable id to its current value.
func (r *recorder) named() map[string]countersign.Scalar {
	named := make(map[string]countersign.Scalar, len(r.values))
	for i := range r.values {
		named[r.m.doc.Variables[i].ID] = r.values[i]
	}
	return named
}

// compare checks the scenario's expectations (contract 4).
func (r *recorder) compare(s *countersign.Scenario) {
	r.sim.ScenarioID = s.ID
	r.sim.Mismatches = []countersign.Mismatch{}
	if s.ExpectedStateID != r.sim.FinalStateID {
		r.mismatch(fieldState, countersign.String(s.ExpectedStateID), countersign.String(r.sim.FinalStateID))
	}
	if !slices.Equal(s.ExpectedPath, r.sim.Path) {
		r.mismatch(fieldPath, texts(s.ExpectedPath), texts(r.sim.Path))
	}
	if s.ExpectedResult != r.sim.Result {
		r.mismatch(fieldResult, countersign.String(s.ExpectedResult), countersign.String(r.sim.Result))
	}
	r.sim.Passed = len(r.sim.Mismatches) == 0 && r.sim.Outcome != countersign.OutcomeLoop
}

// The fields of a scenario that say what is expected.
const (
	fieldState  = "expectedStateId"
	fieldPath   = "expectedPath"
	fieldResult = "expectedResult"
)

func (r *recorder) mismatch(field string, expected, actual countersign.Value) {
	r.sim.Mismatches = append(r.sim.Mismatches, countersign.Mismatch{Field: field, Expected: expected, Actual: actual})
}

// texts is a JSON array of strings.
func texts(list []string) countersign.Value {
	if list == nil {
		list = []string{}
	}
	v, err := countersign.ValueOf(list)
	if err != nil { // strings always encode
		return countersign.Null
	}
	return v
}
