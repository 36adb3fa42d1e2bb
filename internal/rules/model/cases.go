package model

import "slices"

// combinations runs through every combination of values of some variables, as far as
// tests can tell values apart: a number that is compared with 5 is below, at or
// above it, or unknown.
type combinations struct {
	slots   []int32
	domains [][]int32
	at      []int
}

// combinationsOf is the combinations that the conditions of some arcs distinguish.
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

// count is how many combinations there are, or more than most.
func (c *combinations) count(most int) int {
	n := 1
	for _, d := range c.domains {
		if n *= len(d); n > most {
			return most + 1
		}
	}
	return n
}

// set puts the present combination into cells.
func (c *combinations) set(cells []int32) {
	for i, slot := range c.slots {
		cells[slot] = c.domains[i][c.at[i]]
	}
}

// next goes on to the next combination; false after the last.
func (c *combinations) next() bool {
	for i := range c.at {
		if c.at[i]++; c.at[i] < len(c.domains[i]) {
			return true
		}
		c.at[i] = 0
	}
	return false
}

// domain is one rank of each class of values that comparisons with the given
// ranks tell apart, unknown included. Between two numbers there is always
// another, and next to any texts there are more; booleans and choices have no
// values besides those on their scale.
func (m *Machine) domain(slot int32, tested []int32) []int32 {
	s := &m.constants[slot]
	var ranks []int32
	for _, r := range tested {
		switch {
		case r < 0: // isKnown and its like: any known value will do
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
