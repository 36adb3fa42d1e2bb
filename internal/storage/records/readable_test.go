package records

import (
	"slices"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
)

// mixed are the tables that keep records of several kinds, and the log, whose records are
// verified.
var mixed = []*store.Table{store.SignIns, store.ProjectRevisions, store.Steps, store.Audit, store.AuditHeads, store.Meta}

// TestDoctorReadsTheRecordsOfEachTableAsWhatTheyAre: one that is JSON, and not what its table
// keeps, is found, whichever table it stands in.
func TestDoctorReadsTheRecordsOfEachTableAsWhatTheyAre(t *testing.T) {
	for _, table := range store.Tables() {
		if slices.Contains(mixed, table) {
			continue
		}
		row := store.Row{ID: "x", Doc: []byte(`["no", "record"]`)}
		if Readable(table, row) == nil {
			t.Errorf("%s: an array is taken for a record of it", table.Name)
		}
	}
}
