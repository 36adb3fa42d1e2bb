package records

import (
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

// Settings is one record a tenant, once somebody has set something.
var Settings = store.Collection[countersign.TenantSettings]{Table: store.Meta}

// SettingsID is its id.
const SettingsID = "settings"

// BreakGlassTold is the break-glass of a tenant that its administrators have been told of.
var BreakGlassTold = store.Collection[countersign.BreakGlass]{Table: store.Meta}

// BreakGlassToldID is its id.
const BreakGlassToldID = "breakglasstold"

// SettingsOf reads a tenant's settings, the defaults where there are none.
func SettingsOf(tx store.Tx, tenant string) (countersign.TenantSettings, error) {
	s, _, err := Settings.Get(tx, tenant, SettingsID)
	if errors.Is(err, store.ErrNotFound) {
		return countersign.TenantSettings{TenantID: tenant, DecisionAssertion: countersign.DecisionAssertionNone}, nil
	}
	if err != nil {
		return countersign.TenantSettings{}, err
	}
	return *s, nil
}
