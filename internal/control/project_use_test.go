package control_test

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// TestAStrandedRunKeepsNoProjectFromBeingEdited: it sends nothing any more. The page of a
// project with such a run failed, since nothing moves the run.
func TestAStrandedRunKeepsNoProjectFromBeingEdited(t *testing.T) {
	h := open(t)
	u := records.Unfinished{TenantID: "acme", RunID: "run-lost", Projects: []string{"acme-one"}, State: records.Stranded, Since: time.Unix(0, 0)}
	h.must(h.store.Update(background, func(tx store.Tx) error {
		_, err := records.UnfinishedRuns.Put(tx, store.Realm, records.UnfinishedID("acme", "run-lost"), &u, 0)
		return err
	}))
	use, err := h.service.ProjectUse(background, as("acme"), "acme-one")
	h.must(err)
	if use.Any() {
		t.Errorf("%+v", use)
	}
}
