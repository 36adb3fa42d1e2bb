package model

import (
	"encoding/binary"
	"slices"

	"github.com/countersign/countersign"
)

// Exploration is what a model can come to, whatever its inputs are. All lists
// are ids in document order. When Complete, what is not listed can't happen with
// the memory that the scenarios begin with.
type Exploration struct {
	Complete    bool     // false: the limit ended the exploration
	Pairs       int      // (state, values) pairs reached
	Stuck       int      // those of them where no transition is enabled
	Loops       int      // different cycles that can be entered
	States      []string // states reached, the final and the stuck ones included
	Transitions []string // transitions taken
	StuckStates []string // states in which a run can get stuck
	LoopStates  []string // states that a cycle goes through
}

// Explore walks every (state, values) pair that a simulation can reach, from
// each scenario's memory (the defaults in a model without scenarios) and with
// every input. Inputs are infinitely many, but conditions tell only finitely
// many apart, so one of each kind stands for all (domain), and pairs are counted
// so. limit bounds the pairs, and with them memory and time.
func Explore(m *Machine, limit int) Exploration {
	e := explorer{
		m: m, limit: limit, cells: m.changing(), seen: map[string]step{},
		states: make([]trait, len(m.nodes)), taken: make([]bool, len(m.doc.Transitions)),
	}
	e.found.Complete = e.explore()
	e.found.Pairs = len(e.seen)
	e.found.States = e.statesThat(isReached)
	e.found.StuckStates = e.statesThat(isStuck)
	e.found.LoopStates = e.statesThat(isLooping)
	e.found.Transitions = e.transitions()
	return e.found
}

// explorer walks from one beginning after the other until it meets a pair that
// was seen before. From there on everything is known: the machine is
// deterministic.
type explorer struct {
	m      *Machine
	limit  int
	cells  []int32         // the slots that are ever tested or set; only these tell pairs apart
	seen   map[string]step // by pair
	walk   int
	trail  []int32 // states of the present walk
	states []trait
	taken  []bool // by transition
	found  Exploration
}

// step is when a pair was first seen.
type step struct{ walk, at int }

// trait is what can happen in a state.
type trait uint8

const (
	isReached trait = 1 << iota
	isStuck
	isLooping
)

func (e *explorer) explore() bool {
	if len(e.m.doc.Scenarios) == 0 {
		return e.from(e.m.ranks)
	}
	begun := map[string]bool{}
	for i := range e.m.doc.Scenarios {
		s := countersign.Scenario{InitialMemory: e.m.doc.Scenarios[i].InitialMemory}
		memory := e.m.initial(&s, nil)
		key := string(e.key(e.m.start, memory))
		if !begun[key] && !e.from(memory) {
			return false
		}
		begun[key] = true
	}
	return true
}

// from walks from one memory with every input.
func (e *explorer) from(memory []int32) bool {
	inputs, cells := e.m.inputCases(), make([]int32, len(memory))
	for more := true; more; more = inputs.next() {
		copy(cells, memory)
		inputs.set(cells)
		if !e.follow(cells) {
			return false
		}
	}
	return true
}

func (e *explorer) follow(cells []int32) bool {
	e.walk++
	e.trail = e.trail[:0]
	for state := e.m.start; ; {
		key := e.key(state, cells)
		if before, ok := e.seen[string(key)]; ok {
			e.close(before)
			return true
		}
		if len(e.seen) >= e.limit {
			return false
		}
		e.seen[string(key)] = step{e.walk, len(e.trail)}
		e.trail = append(e.trail, state)
		next := e.leave(state, cells)
		if next == none {
			return true
		}
		state = next
	}
}

// leave takes the enabled arc out of a state, none in a final or stuck one.
func (e *explorer) leave(state int32, cells []int32) int32 {
	e.states[state] |= isReached
	if e.m.nodes[state].final {
		return none
	}
	unlimited := 0
	arc := e.m.next(state, cells, &unlimited)
	if arc == none {
		e.states[state] |= isStuck
		e.found.Stuck++
		return none
	}
	a := &e.m.arcs[arc]
	e.taken[a.index] = true
	for _, set := range a.effects {
		cells[set.slot] = set.rank
	}
	return a.to
}

// close ends a walk at a pair that was seen before: in this walk it is a cycle,
// in an earlier one nothing new.
func (e *explorer) close(before step) {
	if before.walk != e.walk {
		return
	}
	e.found.Loops++
	for _, state := range e.trail[before.at:] {
		e.states[state] |= isLooping
	}
}

func (e *explorer) key(state int32, cells []int32) []byte {
	key := binary.LittleEndian.AppendUint32(nil, uint32(state))
	for _, slot := range e.cells {
		key = binary.LittleEndian.AppendUint32(key, uint32(cells[slot]))
	}
	return key
}

func (e *explorer) statesThat(can trait) []string {
	ids := []string{}
	for i, t := range e.states {
		if t&can != 0 {
			ids = append(ids, e.m.doc.States[i].ID)
		}
	}
	return ids
}

func (e *explorer) transitions() []string {
	ids := []string{}
	for i, taken := range e.taken {
		if taken {
			ids = append(ids, e.m.doc.Transitions[i].ID)
		}
	}
	return ids
}

// inputCases is every combination of inputs that the model's conditions tell
// apart.
func (m *Machine) inputCases() cases {
	all := m.casesOf(m.arcs)
	var inputs cases
	for i, slot := range all.slots {
		if m.doc.Variables[slot].Kind == countersign.VariableInput {
			inputs.slots = append(inputs.slots, slot)
			inputs.domains = append(inputs.domains, all.domains[i])
		}
	}
	inputs.at = make([]int, len(inputs.slots))
	return inputs
}

// changing is the slots that are tested or set anywhere, in order. Every other
// variable keeps its value and decides nothing.
func (m *Machine) changing() []int32 {
	var slots []int32
	for i := range m.tests {
		slots = append(slots, m.tests[i].slot)
	}
	for i := range m.arcs {
		for _, e := range m.arcs[i].effects {
			slots = append(slots, e.slot)
		}
	}
	slices.Sort(slots)
	return slices.Compact(slots)
}
