package records

import "github.com/countersign/countersign/internal/storage/store"

// Rehearsed names the last DRY_RUN run of a plan's content that completed.
type Rehearsed struct {
	RunID string `json:"runId"`
}

// Rehearsals are found by planDigest.
var Rehearsals = store.Collection[Rehearsed]{Table: store.Rehearsals}
