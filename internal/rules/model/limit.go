package model

import "github.com/countersign/countersign"

// Limit bounds what one simulation may cost. The contract knows no step cap, and
// a model with n boolean memory variables can count 2^n steps before anything
// recurs. Every one of them is in the answer, so what bounds a simulation is the
// memory that answer takes; within the limit simulations are exact, beyond it
// they are refused and never cut short.
type Limit struct {
	// Work is how many transitions may be tried, predicates evaluated and effects
	// applied until the end is known. Finding a recurrence takes up to three times
	// the steps of the path.
	Work int
	// Bytes is about how long the answer may be as JSON, and Walk's visits with it.
	Bytes int
}

// DefaultLimit is far beyond what people model: about a hundred thousand steps.
func DefaultLimit() Limit { return Limit{Work: 10_000_000, Bytes: 64 << 20} }

// Within returns the same machine under another limit.
func (m *Machine) Within(l Limit) *Machine {
	limited := *m
	limited.limit = l
	return &limited
}

func (m *Machine) tooLong(s *countersign.Scenario) error {
	return countersign.Errorf(countersign.CodeInvalidRequest,
		"scenarioId: scenario %s does not end within the limit of one simulation (%d tests, %d bytes of answer); its model counts too far for every step to be shown",
		quoted(s.ID), m.limit.Work, m.limit.Bytes)
}
