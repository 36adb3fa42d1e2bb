package model

// maxLive bounds the cost of the liveness analysis; beyond it every slot counts as
// live, which only creates more pairs.
const maxLive = 1 << 23

// live is a liveness analysis: for each state, which of the given slots are tested
// there or in a state reachable from it. Other slots cannot affect anything, so pairs
// that differ only in them are merged. nil: all are live.
func (m *Machine) live(places []int32, slots int) [][]bool {
	if slots*(len(m.nodes)+len(m.arcs)) > maxLive {
		return nil
	}
	before, testing := m.predecessors(), m.testing(places, slots)
	live := make([][]bool, len(m.nodes))
	for i := range live {
		live[i] = make([]bool, slots)
	}
	for slot, open := range testing {
		for len(open) > 0 {
			state := open[len(open)-1]
			open = open[:len(open)-1]
			if !live[state][slot] {
				live[state][slot] = true
				open = append(open, before[state]...)
			}
		}
	}
	return live
}

// predecessors lists, for each state, the states with an arc to it.
func (m *Machine) predecessors() [][]int32 {
	before := make([][]int32, len(m.nodes))
	m.eachArc(func(state int32, a *arc) { before[a.to] = append(before[a.to], state) })
	return before
}

// testing lists, for each slot, the states that test it.
func (m *Machine) testing(places []int32, slots int) [][]int32 {
	in := make([][]int32, slots)
	m.eachArc(func(state int32, a *arc) {
		for _, t := range m.tests[a.tests:a.testsEnd] {
			in[places[t.slot]] = append(in[places[t.slot]], state)
		}
	})
	return in
}

func (m *Machine) eachArc(visit func(state int32, a *arc)) {
	for state, n := range m.nodes {
		for i := n.arcs; i < n.end; i++ {
			visit(int32(state), &m.arcs[i])
		}
	}
}
