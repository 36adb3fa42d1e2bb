package model

import (
	"fmt"

	"github.com/countersign/countersign"
)

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

// SpellingFault spells a value of each rank among some constants and says where
// it isn't of that rank.
func SpellingFault(variableType string, constants ...string) string {
	s := newConstantTable(&countersign.Variable{Type: variableType})
	for _, c := range constants {
		s.add(countersign.Scalar{Value: countersign.RawValue(c)})
	}
	s.sortUnique()
	for rank := unknown; rank <= int32(2*len(s.sorted)); rank++ {
		if rank >= 0 && rank%2 == 0 && !s.numbers && (rank > 0 || s.closed) {
			continue // texts besides the constants are one kind, booleans have none
		}
		v := s.valueAt(rank)
		if got := s.rank(v); got != rank && (s.numbers || got%2 != rank%2) {
			return fmt.Sprintf("%s is of rank %d, not %d", v.Raw(), got, rank)
		}
	}
	return ""
}

// Within returns the machine with another limit.
func (m *Machine) Within(l Limit) *Machine {
	limited := *m
	limited.limit = l
	return &limited
}
