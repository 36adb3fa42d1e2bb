package model

import "slices"

// combinations iterates over the combinations of values of some variables that tests
// distinguish: a number that is compared with 5 is below, at or above it, or unknown.
type combinations struct {
	slots   []int32
	domains [][]int32
	at      []int
}

// combinationsOf are the combinations that the conditions of some arcs distinguish.
func (m *Machine) combinationsOf(arcs []arc) combinations {
	tested := map[int32][]int32{}
	var c combinations
	for i := range arcs {
		for _, t := range m.tests[arcs[i].tests:arcs[i].testsEnd] {
			if _, seen := tested[t.slot]; !seen {
				c.slots = append(c.slots, t.slot)
			}
			tested[t.slot] = append(tested[t.slot], t.rank)
		}
	}
	for _, slot := range c.slots {
		c.domains = append(c.domains, m.domain(slot, tested[slot]))
	}
	c.at = make([]int, len(c.slots))
	return c
}

// count is the number of combinations, most+1 if there are more than most.
func (c *combinations) count(most int) int {
	n := 1
	for _, d := range c.domains {
		if n *= len(d); n > most {
			return most + 1
		}
	}
	return n
}

// set copies the current combination into cells.
func (c *combinations) set(cells []int32) {
	for i, slot := range c.slots {
		cells[slot] = c.domains[i][c.at[i]]
	}
}

// next moves to the next combination; false after the last.
func (c *combinations) next() bool {
	for i := range c.at {
		if c.at[i]++; c.at[i] < len(c.domains[i]) {
			return true
		}
		c.at[i] = 0
	}
	return false
}

// domain is one rank of each class of values that comparisons with the given ranks
// distinguish, unknown included. Numbers are dense and texts unlimited, so there is
// always a value between or besides the constants; booleans and choices have only
// their constants.
func (m *Machine) domain(slot int32, tested []int32) []int32 {
	s := &m.constants[slot]
	var ranks []int32
	for _, r := range tested {
		switch {
		case r < 0: // isKnown or isUnknown: any known value will do
		case s.numbers:
			ranks = append(ranks, r, r+1) // and below r: above the one before it, or 0
		default:
			ranks = append(ranks, r)
		}
	}
	if !s.closed {
		ranks = append(ranks, 0)
	} else if other, ok := s.unusedRank(ranks); ok {
		ranks = append(ranks, other)
	}
	slices.Sort(ranks)
	return slices.Compact(append([]int32{unknown}, ranks...))
}
