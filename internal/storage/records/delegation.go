package records

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

// Delegations are a tenant's, one for each user who is away. Few records are of this kind,
// so they share a table.
var Delegations = store.Collection[countersign.Delegation]{Table: store.Meta}

// DelegationID is the id of the record of who is away.
func DelegationID(email string) string { return "delegation/" + email }

// AllDelegations narrows a tenant's listing to its delegations.
func AllDelegations() []store.Filter { return idRange("delegation/", "delegation0") } // '0' follows '/'
