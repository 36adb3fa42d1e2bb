package control

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// nameRun adds the name of the run's requester.
func nameRun(tx store.Tx, tenant string, r *countersign.Run) (err error) {
	r.RequestedByName, err = records.NameOf(tx, tenant, r.RequestedBy)
	return err
}

// nameApproval adds the names of the approval's requester and decider.
func nameApproval(tx store.Tx, tenant string, ap *countersign.Approval) (err error) {
	if ap.RequestedByName, err = records.NameOf(tx, tenant, ap.RequestedBy); err == nil {
		ap.DecidedByName, err = records.NameOf(tx, tenant, ap.DecidedBy)
	}
	return err
}
