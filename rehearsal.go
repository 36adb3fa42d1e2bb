package countersign

import "time"

// What a rehearsal says of a LIVE run and of each of its steps.
const (
	RehearsalSame      = "SAME"      // it sends what was rehearsed
	RehearsalDifferent = "DIFFERENT" // it doesn't
	RehearsalOpen      = "OPEN"      // nothing that differs, and steps that have no request yet
	RehearsalNone      = "NONE"      // the plan was never rehearsed
)

// Rehearsal compares a LIVE run with the last DRY_RUN run of the same planDigest
// that completed: does it send what was rehearsed?
type Rehearsal struct {
	RunID       string          `json:"runId"`
	PlanDigest  string          `json:"planDigest,omitempty"`
	RehearsalID string          `json:"rehearsalId,omitempty" doc:"the DRY_RUN run; absent when there is none"`
	RehearsedAt time.Time       `json:"rehearsedAt,omitzero"`
	Verdict     string          `json:"verdict" enum:"SAME,DIFFERENT,OPEN,NONE"`
	Steps       []RehearsedStep `json:"steps" nullable:"false"`
}

// RehearsedStep compares one step. What the rehearsal left open, since it is bound to
// an earlier output, is compared with that output filled in.
type RehearsedStep struct {
	StepID          string       `json:"stepId"`
	Verdict         string       `json:"verdict" enum:"SAME,DIFFERENT,OPEN"`
	RehearsedDigest StepDigest   `json:"rehearsedDigest,omitzero" nullable:"true" doc:"null where an input was bound"`
	SentDigest      StepDigest   `json:"sentDigest,omitzero" nullable:"true" doc:"null until the request is made"`
	Bound           []string     `json:"bound" nullable:"false" doc:"the inputs that came from earlier outputs"`
	Differences     []Difference `json:"differences" nullable:"false"`
}

// Difference is one part of a request that isn't as it was rehearsed.
type Difference struct {
	Path      string `json:"path" doc:"such as input.amount, method, url or body"`
	Rehearsed Value  `json:"rehearsed" doc:"null: it wasn't there"`
	Sent      Value  `json:"sent" doc:"null: it isn't there"`
}
