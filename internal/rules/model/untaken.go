package model

// Limits of the case analysis in one validation.
const (
	maxCaseTests      = 200_000   // for one state: combinations times tests of each
	maxCaseTestsOfAll = 4_000_000 // for all states
)

// untaken finds transitions that are never taken because no values make their
// condition true, or because an earlier transition is always taken instead (contract
// 4). It checks each state on its own with every combination of values that its
// conditions distinguish; a state with too many combinations is left to
// graph.findShadowed.
func (m *Machine) untaken(never []string) {
	budget := maxCaseTestsOfAll
	cells := make([]int32, len(m.ranks))
	for _, n := range m.nodes {
		arcs := m.arcs[n.arcs:n.end]
		c := m.combinationsOf(arcs)
		cost := testsOf(arcs)
		if cost *= c.count(maxCaseTests); cost == 0 || cost > min(budget, maxCaseTests) {
			continue
		}
		budget -= cost
		m.tryCases(arcs, &c, cells).explain(arcs, never)
	}
}

func testsOf(arcs []arc) int {
	n := len(arcs)
	for i := range arcs {
		n += int(arcs[i].testsEnd - arcs[i].tests)
	}
	return n
}

// caseResults says of each arc whether its condition ever holds, and whether it is
// ever the first that does.
type caseResults struct{ holds, first []bool }

func (m *Machine) tryCases(arcs []arc, c *combinations, cells []int32) caseResults {
	o := caseResults{holds: make([]bool, len(arcs)), first: make([]bool, len(arcs))}
	for more, spent := true, 0; more; more = c.next() {
		c.set(cells)
		taken := false
		for i := range arcs {
			if m.accepts(arcs[i].entry, cells, &spent) {
				o.holds[i] = true
				o.first[i] = o.first[i] || !taken
				taken = true
			}
		}
	}
	return o
}

func (r caseResults) explain(arcs []arc, never []string) {
	for i := range arcs {
		switch {
		case never[arcs[i].index] != "" || r.first[i]:
		case r.holds[i]:
			never[arcs[i].index] = "whenever its condition is true, a transition that is tried first is taken"
		default:
			never[arcs[i].index] = "no values make its condition true"
		}
	}
}
