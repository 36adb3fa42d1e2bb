package reach

import (
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Archived reads the record that is left of an archived run; ErrNotFound if there is none,
// or if the run's projects are out of the actor's scope (contract 3).
func Archived(tx store.Tx, a core.Actor, id string) (*records.Archived, error) {
	left, _, err := records.ArchivedRuns.Get(tx, a.Tenant, id)
	if err != nil {
		return nil, err
	}
	return left, access.InRun(a.Principal, left.Run.AgentID, left.Projects...)
}

// FoundRun is core.Found for a run. If the run was archived, the error names the archive, unless the
// actor must not see what a hash over the run could be tried for.
func FoundRun(tx store.Tx, a core.Actor, id string, err error) error {
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	left, gone := Archived(tx, a, id)
	if gone != nil {
		return core.Found(gone, "run", id)
	}
	day := left.At.UTC().Format("2006-01-02")
	if core.Masks(a) {
		return countersign.Errorf(countersign.CodeNotFound, "run %s was archived on %s", id, day)
	}
	return countersign.Errorf(countersign.CodeNotFound, "run %s ended %s and was archived on %s: it is in the archive's file %s (SHA-256 %s)", id, left.Run.Status, day, left.File, left.SHA256)
}

// foundApproval is FoundRun for an approval, which is archived with its run.
func foundApproval(tx store.Tx, a core.Actor, id string, err error) error {
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	of, _, gone := records.ArchivedApprovals.Get(tx, a.Tenant, records.ArchivedApprovalID(id))
	if gone == nil {
		gone = access.InScope(a.Principal, of.ProjectID)
	}
	if gone != nil {
		return core.Found(gone, "approval", id)
	}
	left, _, gone := records.ArchivedRuns.Get(tx, a.Tenant, of.RunID)
	if gone != nil {
		return core.Found(gone, "approval", id)
	}
	day := left.At.UTC().Format("2006-01-02")
	if core.Masks(a) {
		return countersign.Errorf(countersign.CodeNotFound, "approval %s was archived with run %s on %s", id, of.RunID, day)
	}
	return countersign.Errorf(countersign.CodeNotFound, "approval %s was archived with run %s on %s: it is in the archive's file %s (SHA-256 %s)", id, of.RunID, day, left.File, left.SHA256)
}
