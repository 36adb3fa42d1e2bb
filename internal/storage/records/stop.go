package records

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

// Stops are kept under Realm while they stand, one a tenant and one for all.
var Stops = store.Collection[countersign.Stop]{Table: store.Meta}

// StopID is the id of a tenant's stop, or with countersign.AllTenants of that for all.
func StopID(tenant string) string { return "stop/" + tenant }
