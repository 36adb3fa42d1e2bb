package runrepo

import (
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// While a stop stands, no LIVE step of its tenant begins. Its record is read in the
// transaction that commits a step's intent, so no intent is committed after the stop, on
// no replica and after no restart.

// Stopped reports that a stop of the tenant, or of all tenants, stands.
func Stopped(tx store.Tx, tenant string) (bool, error) {
	own, err := stands(tx, tenant)
	if err != nil || own {
		return own, err
	}
	return stands(tx, countersign.AllTenants)
}

func stands(tx store.Tx, tenant string) (bool, error) {
	_, _, err := records.Stops.Get(tx, store.Realm, records.StopID(tenant))
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
