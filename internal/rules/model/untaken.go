package model

// What one validation spends on running through cases.
const (
	maxCaseTests      = 200_000   // on one state: the combinations times what is tested in each
	maxCaseTestsOfAll = 4_000_000 // on all states
)

// untaken says which transitions can never be taken because no values make
// their condition true, or all that do are taken by a transition that is tried
// before (contract 4). Each state is judged by itself, for every combination of
// values that its conditions can tell apart; a state with too many combinations
// is left to what graph.shadows saw.
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

// caseResults is what cases showed of each arc: whether its condition ever holds and
// whether it is then ever the first.
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

func (o caseResults) explain(arcs []arc, never []string) {
	for i := range arcs {
		switch {
		case never[arcs[i].index] != "" || o.first[i]:
		case o.holds[i]:
			never[arcs[i].index] = "whenever its condition is true, a transition that is tried first is taken"
		default:
			never[arcs[i].index] = "no values make its condition true"
		}
	}
}
