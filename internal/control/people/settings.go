package people

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/sessions"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Settings are those of the actor's tenant.
func (s *TenantService) Settings(ctx context.Context, a core.Actor) (out countersign.TenantSettings, err error) {
	err = s.View(ctx, a, access.ReadSettings, func(tx store.Tx) error {
		out, err = records.SettingsOf(tx, a.Tenant)
		return err
	})
	return out, err
}

// PutSettings changes the settings of the actor's tenant. Asking for less weakens a gate; what
// was asked for approvals that wait stays so.
func (s *TenantService) PutSettings(ctx context.Context, a core.Actor, w countersign.TenantSettingsWrite) (out countersign.TenantSettings, err error) {
	if err := core.WellFormed(a, w); err != nil {
		return out, err
	}
	if err := core.Given("reason", w.Reason); err != nil {
		return out, err
	}
	err = s.Update(ctx, a, access.WriteSettings, "tenant/"+a.Tenant, func(tx store.Tx) error {
		if w.DecisionAssertion == countersign.DecisionAssertionPasskey && s.party() == nil {
			return sessions.ErrNoPasskeys
		}
		was, err := records.SettingsOf(tx, a.Tenant)
		if err != nil {
			return err
		}
		if was.Revision != w.ExpectedRevision {
			return countersign.Errorf(countersign.CodeRevisionConflict, "the settings are at revision %d, not %d; read them and send expectedRevision %d", was.Revision, w.ExpectedRevision, was.Revision)
		}
		_, version, err := records.Settings.Get(tx, a.Tenant, records.SettingsID)
		if err != nil && was.Revision > 0 {
			return err
		}
		out = was
		out.DecisionAssertion, out.UpdatedAt = w.DecisionAssertion, s.Config.Now()
		out.Revision++
		if _, err := records.Settings.Put(tx, a.Tenant, records.SettingsID, &out, version); err != nil {
			return err
		}
		return s.Audit(tx, a, access.WriteSettings, "tenant/"+a.Tenant, core.Change{
			Before: "decisionAssertion " + was.DecisionAssertion, After: "decisionAssertion " + out.DecisionAssertion, Reason: w.Reason,
			Weakens: was.DecisionAssertion == countersign.DecisionAssertionPasskey && out.DecisionAssertion != was.DecisionAssertion,
		})
	})
	return out, err
}
