package runrepo

import (
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// rehearsed stores a completed rehearsal as the last one of its plan's content: LIVE runs
// are compared with it.
func rehearsed(tx store.Tx, was, is *LoadedRun) error {
	r := is.Run()
	if r.Mode != countersign.ModeDryRun || r.Status != countersign.RunCompleted || was.Run().Status == r.Status {
		return nil
	}
	_, version, err := records.Rehearsals.Get(tx, is.Ref.Tenant, r.PlanDigest)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	_, err = records.Rehearsals.Put(tx, is.Ref.Tenant, r.PlanDigest, &records.Rehearsed{RunID: r.ID}, version)
	return err
}
