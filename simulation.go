package countersign

// SimulationRequest is the body of POST /models/{id}/simulate.
type SimulationRequest struct {
	ScenarioID string            `json:"scenarioId"`
	Inputs     map[string]Scalar `json:"inputs,omitempty" nullable:"false"`
}

// Outcomes of a simulation (contract 4).
const (
	OutcomeFinal = "final"
	OutcomeStuck = "stuck"
	OutcomeLoop  = "loop"
)

// SimulationOutcomes are all of them; there may be more.
var SimulationOutcomes = []string{OutcomeFinal, OutcomeStuck, OutcomeLoop}

// Simulation is what a scenario comes to. The same document and inputs give the
// same bytes.
type Simulation struct {
	ScenarioID   string            `json:"scenarioId"`
	Passed       bool              `json:"passed" doc:"no mismatch and no loop"`
	Outcome      string            `json:"outcome"`
	FinalStateID string            `json:"finalStateId"`
	Path         []string          `json:"path" nullable:"false" doc:"state ids visited, the start included; a loop ends with the state that recurs"`
	Result       string            `json:"result" doc:"simulatedResult of the last action taken, empty when none ran"`
	Values       map[string]Scalar `json:"values" nullable:"false" doc:"every variable at the end; null is unknown"`
	Trace        []TraceEntry      `json:"trace" nullable:"false"`
	Mismatches   []Mismatch        `json:"mismatches" nullable:"false"`
}

// TraceEntry is one transition taken and what was looked at before it.
type TraceEntry struct {
	From         string           `json:"from"`
	To           string           `json:"to"`
	TransitionID string           `json:"transitionId"`
	ActionID     string           `json:"actionId,omitempty"`
	Predicates   []PredicateTrace `json:"predicates" nullable:"false" doc:"the predicates evaluated in this state, in order"`
	Effects      []MemoryEffect   `json:"effects" nullable:"false"`
}

// PredicateTrace is one predicate with the value that it met.
type PredicateTrace struct {
	TransitionID string `json:"transitionId"`
	VariableID   string `json:"variableId"`
	Operator     string `json:"operator"`
	Value        Scalar `json:"value,omitzero" doc:"what it was compared with"`
	Actual       Scalar `json:"actual" doc:"the variable's value; null is unknown"`
	Holds        bool   `json:"holds"`
}

// Mismatch is an expectation of the scenario that was not met.
type Mismatch struct {
	Field    string `json:"field" enum:"expectedStateId,expectedPath,expectedResult"`
	Expected Value  `json:"expected"`
	Actual   Value  `json:"actual"`
}
