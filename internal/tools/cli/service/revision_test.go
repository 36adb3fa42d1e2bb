package service

import (
	"testing"

	"github.com/countersign/countersign/client"
)

// TestAConflictNamesTheFlagOfTheRevision, behind what the service says.
func TestAConflictNamesTheFlagOfTheRevision(t *testing.T) {
	const want = "revision_conflict:  (here with --revision)"
	if err := WithRevision(client.ErrRevisionConflict); err == nil || err.Error() != want {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
}
