package model

import "github.com/countersign/countersign"

// Courses finds the way that a scenario takes without writing it down: the part of
// a simulation that steps. The function gives how many transitions it took and what
// it came to.
func (m *Machine) Courses(s *countersign.Scenario) func() (transitions int, outcome string) {
	cells := m.initial(s, nil)
	return func() (int, string) {
		budget := m.limit.Work
		c, _ := m.follow(cells, &budget)
		return len(c.arcs), c.outcome
	}
}
