package records

import (
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

// Probe is one probe of a step, kept apart from it: a step may have hundreds, of a
// mebibyte each. Steps of older releases hold theirs themselves.
type Probe struct {
	Step  int                     `json:"step"` // index
	Probe countersign.ProbeRecord `json:"probe"`
}

// ProbeID is the id of a run's n-th probe of these; it is no id of a step.
func ProbeID(runID string, n int) string { return fmt.Sprintf("%s/probe/%04d", runID, n) }

// firstProbe is where the probes' own numbers begin, behind those of any step.
const firstProbe = 10_000

// IsProbe reports whether a row of steps with this index is a probe's.
func IsProbe(index int) bool { return index >= firstProbe }

// Probes is the collection of one run's n-th probe record.
func Probes(runID string, n int) store.Collection[Probe] {
	return store.Collection[Probe]{Table: store.Steps, Keys: func(*Probe) []any { return []any{runID, int64(firstProbe + n), ""} }}
}
