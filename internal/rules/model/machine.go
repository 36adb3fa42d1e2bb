package model

import (
	"math"

	"github.com/countersign/countersign"
)

// Machine is a compiled model. It is safe for concurrent simulations. It refers
// to its document, which must not be changed anymore.
type Machine struct {
	program
	doc       *countersign.AgentModel
	ix        *index
	limit     Limit
	constants []constantTable // one per variable, in document order; cells have the same order
	ranks     []int32         // the default values
	nodes     []node          // one per state
	arcs      []arc           // those of one state together, in the order they are tried
	start     int32
}

// node is a compiled state.
type node struct {
	final     bool
	arcs, end int32 // its arcs: arcs[n.arcs:n.end]
}

// arc is a compiled transition.
type arc struct {
	transition *countersign.Transition
	action     *countersign.Action // nil without one
	index      int                 // the transition's place in the document
	entry, to  int32
	effects    []effect

	tests, testsEnd int32 // its condition's: program.tests[a.tests:a.testsEnd]
}

// effect sets a cell.
type effect struct {
	slot, rank int32
}

// none stands for no arc, edge, pair or cell.
const none int32 = -1

// Compile makes a machine of a document. A document with errors is refused with
// model_invalid, which names all of them (contract 4).
func Compile(doc *countersign.AgentModel) (*Machine, error) {
	ix := newIndex(doc)
	if errors := check(doc, ix); len(errors) > 0 {
		return nil, countersign.Refusal(countersign.CodeModelInvalid, errors...)
	}
	return compile(doc, ix, tryOrder(doc, ix)), nil
}

// compile makes a machine of a document without errors.
func compile(doc *countersign.AgentModel, ix *index, order [][]int) *Machine {
	m := &Machine{doc: doc, ix: ix, limit: DefaultLimit()}
	m.constants = constantTables(doc, ix)
	m.ranks = make([]int32, len(doc.Variables))
	for i := range doc.Variables {
		m.ranks[i] = m.constants[i].rank(doc.Variables[i].DefaultValue)
	}
	effects := m.compileEffects()
	m.arcs = make([]arc, 0, len(doc.Transitions))
	for i := range doc.States {
		m.compileState(i, order[i], effects)
	}
	return m
}

// constantTables collects the constants that conditions compare each variable with and
// that effects set it to.
func constantTables(doc *countersign.AgentModel, ix *index) []constantTable {
	all := make([]constantTable, len(doc.Variables))
	for i := range doc.Variables {
		all[i] = newConstantTable(&doc.Variables[i])
	}
	for i := range doc.Transitions {
		eachCondition(&doc.Transitions[i].Condition, nil, func(c *countersign.Condition, _ []int) {
			if p := c.Predicate; p != nil && compares(p.Operator) {
				all[ix.variables[p.VariableID].slot].add(p.Value)
			}
		})
	}
	for i := range doc.Actions {
		for _, e := range doc.Actions[i].MemoryEffects {
			all[ix.variables[e.VariableID].slot].add(e.Value)
		}
	}
	for i := range all {
		all[i].sortUnique()
	}
	return all
}

func (m *Machine) compileEffects() [][]effect {
	all := make([][]effect, len(m.doc.Actions))
	for i := range m.doc.Actions {
		for _, e := range m.doc.Actions[i].MemoryEffects {
			slot := m.ix.variables[e.VariableID].slot
			all[i] = append(all[i], effect{int32(slot), m.constants[slot].rank(e.Value)})
		}
	}
	return all
}

func (m *Machine) compileState(i int, order []int, effects [][]effect) {
	s := &m.doc.States[i]
	if s.IsStart {
		m.start = int32(i)
	}
	n := node{final: s.IsFinal, arcs: int32(len(m.arcs))}
	for _, transition := range order {
		m.arcs = append(m.arcs, m.compileTransition(transition, effects))
	}
	n.end = int32(len(m.arcs))
	m.nodes = append(m.nodes, n)
}

func (m *Machine) compileTransition(i int, effects [][]effect) arc {
	t := &m.doc.Transitions[i]
	a := arc{transition: t, index: i, to: int32(m.ix.states[t.ToStateID]), tests: int32(len(m.tests))}
	a.entry = m.emit(&t.Condition, m.compilePredicate, accept, reject)
	a.testsEnd = int32(len(m.tests))
	if t.ActionID != "" {
		action := m.ix.actions[t.ActionID]
		a.action, a.effects = &m.doc.Actions[action], effects[action]
	}
	return a
}

// compilePredicate gives a predicate without a constant the lowest rank, which
// its result doesn't depend on.
func (m *Machine) compilePredicate(p *countersign.Predicate) test {
	slot := m.ix.variables[p.VariableID].slot
	t := test{slot: int32(slot), in: holdsIn(p), rank: math.MinInt32}
	if compares(p.Operator) && known(p.Value) {
		t.rank = m.constants[slot].rank(p.Value)
	}
	return t
}

// next returns the first arc of a state whose condition holds, or none.
func (m *Machine) next(state int32, cells []int32, budget *int) int32 {
	n := m.nodes[state]
	for i := n.arcs; i < n.end; i++ {
		*budget--
		if m.accepts(m.arcs[i].entry, cells, budget) {
			return i
		}
	}
	return none
}

func (m *Machine) stateID(state int32) string { return m.doc.States[state].ID }
