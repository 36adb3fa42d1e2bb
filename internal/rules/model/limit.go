package model

import "github.com/countersign/countersign"

// Limit bounds the cost of one simulation. The contract has no step limit, and a model
// with n boolean memory variables can count 2^n steps before a configuration recurs.
// Every step is in the answer, so the answer's memory is the bound. A simulation
// beyond the limit is refused, never truncated.
type Limit struct {
	// Work is how many transitions may be tried, predicates evaluated and effects
	// applied until the end is known. Finding a recurrence takes up to three times
	// the steps of the path.
	Work int
	// Bytes bounds the approximate size of the answer as JSON, and of Walk's visits.
	Bytes int
}

// DefaultLimit allows about a hundred thousand steps, far beyond what people model.
func DefaultLimit() Limit { return Limit{Work: 10_000_000, Bytes: 64 << 20} }

func (m *Machine) tooLong(s *countersign.Scenario) error {
	return countersign.Errorf(countersign.CodeInvalidRequest,
		"scenarioId: scenario %s does not end within the limit of one simulation (%d tests, %d bytes of answer); its model counts too far for every step to be shown",
		quoted(s.ID), m.limit.Work, m.limit.Bytes)
}
