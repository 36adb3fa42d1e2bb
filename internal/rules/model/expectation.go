package model

import (
	"fmt"

	"github.com/countersign/countersign"
)

// Limits of running scenarios in one validation, in the units of Limit.Work.
const (
	maxScenarioWork = 1_000_000 // on one scenario
	maxScenarioAll  = 8_000_000 // on all scenarios
)

// scenarios runs each scenario with its own inputs and warns where it fails its
// expectation. It writes no trace, so this is cheap; a scenario that exceeds the
// budget gets a warning instead.
func (w *warner) scenarios() {
	if w.machine == nil {
		return
	}
	left := maxScenarioAll
	for i := range w.doc.Scenarios {
		s, at := &w.doc.Scenarios[i], entry{"scenarios", i}
		granted := min(left, maxScenarioWork)
		budget := granted
		c, ok := w.machine.follow(w.machine.initial(s, nil), &budget)
		left -= granted - budget
		if !ok {
			w.warn(at.String(), ScenarioTooLong, "scenario %s is not judged: running it goes beyond the work of one validation; simulate it by itself", quoted(s.ID))
			continue
		}
		w.unmet(at, s, c)
		w.warnings = append(w.warnings, w.explored[at]...)
	}
}

func (w *warner) unmet(at entry, s *countersign.Scenario, c trace) {
	end := w.machine.visited(c, len(c.arcs))
	if c.outcome == countersign.OutcomeLoop {
		w.warn(at.String(), ScenarioLoops, "scenario %s loops: state %s recurs with the same values after %d steps", quoted(s.ID), quoted(end), len(c.arcs))
	}
	if end != s.ExpectedStateID {
		w.warn(at.field(fieldState), ExpectationNotMet, "scenario %s ends in state %s; it expects %s", quoted(s.ID), quoted(end), quoted(s.ExpectedStateID))
	}
	if how := w.pathMismatch(c, s.ExpectedPath); how != "" {
		w.warn(at.field(fieldPath), ExpectationNotMet, "scenario %s %s", quoted(s.ID), how)
	}
	if result := w.machine.result(c); result != s.ExpectedResult {
		w.warn(at.field(fieldResult), ExpectationNotMet, "scenario %s has result %s; it expects %s", quoted(s.ID), quoted(result), quoted(s.ExpectedResult))
	}
}

// pathMismatch says where a trace differs from the expected path, "" if it does not.
func (w *warner) pathMismatch(c trace, expected []string) string {
	length := len(c.arcs) + 1
	for i := range min(length, len(expected)) {
		if id := w.machine.visited(c, i); id != expected[i] {
			return fmt.Sprintf("visits %s as state %d of its path; it expects %s", quoted(id), i+1, quoted(expected[i]))
		}
	}
	if length != len(expected) {
		return fmt.Sprintf("visits %d states; it expects %d", length, len(expected))
	}
	return ""
}
