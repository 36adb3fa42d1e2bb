package people

import (
	"context"
	"fmt"

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
		out = shownGlass(out, s.Config.Now())
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
	a = a.Asking("", w)
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
		if err := checkWeakening(tx, a, w.Weakening); err != nil {
			return err
		}
		_, version, err := records.Settings.Get(tx, a.Tenant, records.SettingsID)
		if err != nil && was.Revision > 0 {
			return err
		}
		out = was
		out.DecisionAssertion, out.Weakening, out.UpdatedAt = w.DecisionAssertion, w.Weakening, s.Config.Now()
		out.Revision++
		// While what stands still says whether it must be proposed.
		if err := s.Audit(tx, a, access.WriteSettings, "tenant/"+a.Tenant, settingsChange(&was, &out, w.Reason)); err != nil {
			return err
		}
		_, err = records.Settings.Put(tx, a.Tenant, records.SettingsID, &out, version)
		return err
	})
	return out, err
}

// settingsChange is a change of settings as the log has it, and as whoever decides it sees it.
func settingsChange(was, now *countersign.TenantSettings, reason string) core.Change {
	c := core.Change{Before: settingsText(was), After: settingsText(now), Reason: reason, Revision: was.Revision, Was: settingsShown(was), Now: settingsShown(now)}
	if was.DecisionAssertion == countersign.DecisionAssertionPasskey && now.DecisionAssertion != was.DecisionAssertion {
		c.Weaker = append(c.Weaker, "decisionAssertion")
	}
	c.Weaker = append(c.Weaker, eases(was.Weakening, now.Weakening)...)
	c.Weakens = len(c.Weaker) > 0
	return c
}

func settingsText(s *countersign.TenantSettings) string {
	text := "decisionAssertion " + s.DecisionAssertion
	if s.Weakening != nil {
		text += fmt.Sprintf(", weakening by %d %v", s.Weakening.Approvals, s.Weakening.Groups)
	}
	return text
}

func settingsShown(s *countersign.TenantSettings) countersign.Value {
	return core.Members(map[string]any{"decisionAssertion": s.DecisionAssertion, "weakening": s.Weakening})
}
