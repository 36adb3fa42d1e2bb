package records

import (
	"time"

	"github.com/countersign/countersign/internal/storage/store"
)

// Redacting is what is still to be done of a redaction outside the store: the run's archive is
// written anew, and files of an archiving that was cut off, which hold the run, are removed. It is
// kept by tenant from the commit that redacted the run until all of it is done.
type Redacting struct {
	RunID string    `json:"runId"`
	At    time.Time `json:"at"`
	Old   []string  `json:"old,omitempty"` // archive files to be removed: what they held is in others
}

// Redactings share a table with what else is known of a tenant.
var Redactings = store.Collection[Redacting]{Table: store.Meta}

const firstRedacting = "redacting/"

// RedactingID is the id of a run's entry.
func RedactingID(runID string) string { return firstRedacting + runID }

// AllRedactings narrows a listing to these records.
func AllRedactings() []store.Filter { return idRange(firstRedacting, "redacting0") } // '0' follows '/'
