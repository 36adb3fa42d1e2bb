package people

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// BreakGlass takes a tenant's weakening away, and nothing else: the way out, on the stopped store,
// where nobody can decide changes any more. Each page shows it, and administrators are told at the next
// start.
func (s *TenantService) BreakGlass(ctx context.Context, tenant, reason string) error {
	if err := core.Given("reason", reason); err != nil {
		return err
	}
	system := core.Actor{Principal: access.System(tenant)}
	return core.Public(s.UpdateAs(ctx, system, func(tx store.Tx) error {
		if _, _, err := records.Tenants.Get(tx, store.Realm, tenant); err != nil {
			return core.Found(err, "tenant", tenant)
		}
		was, err := records.SettingsOf(tx, tenant)
		if err != nil {
			return err
		}
		if was.Weakening == nil {
			return countersign.Errorf(countersign.CodeStateConflict, "tenant %s has no weakening set: changes that weaken are made at once", tenant)
		}
		_, version, err := records.Settings.Get(tx, tenant, records.SettingsID)
		if err != nil {
			return err
		}
		now := was
		now.Weakening, now.UpdatedAt = nil, s.Config.Now()
		now.Revision++
		now.BreakGlass = &countersign.BreakGlass{At: now.UpdatedAt, Reason: reason}
		if _, err := records.Settings.Put(tx, tenant, records.SettingsID, &now, version); err != nil {
			return err
		}
		c := settingsChange(&was, &now, "break-glass: "+reason)
		return s.AuditIn(tx, tenant, system, access.WriteSettings, "tenant/"+tenant, c)
	}))
}

// TellOfBrokenGlass tells the administrators of each tenant whose weakening was taken away while the service
// stood still: by mail where there is a server for it, and in the log. It tells each once.
func (s *TenantService) TellOfBrokenGlass(ctx context.Context) error {
	var told []broken
	err := s.Store.Update(ctx, func(tx store.Tx) error {
		told = nil
		tenants, err := records.TenantIDs(tx)
		for i := 0; err == nil && i < len(tenants); i++ {
			var b *broken
			b, err = s.tellOnce(tx, tenants[i])
			if passed, failed := s.Passes(records.Settings.Table, tenants[i], records.SettingsID, err); passed || failed != nil {
				err = failed // a tenant whose records can't be read keeps nobody from starting
			} else if b != nil {
				told = append(told, *b)
			}
		}
		return err
	})
	if err != nil {
		return core.Public(err)
	}
	for _, b := range told {
		s.Log.WarnContext(ctx, "weakening was taken away on the stopped store: changes that weaken are made at once", "tenant", b.tenant, "at", b.BreakGlass.At, "reason", b.Reason)
		s.mail(ctx, b)
	}
	return nil
}

// broken is a tenant whose weakening was taken away, and its administrators.
type broken struct {
	countersign.BreakGlass
	tenant string
	admins []string
}

// tellOnce marks a tenant as told, and says whom; nil where there is nothing new.
func (s *TenantService) tellOnce(tx store.Tx, tenant string) (*broken, error) {
	settings, err := records.SettingsOf(tx, tenant)
	if err != nil || settings.BreakGlass == nil {
		return nil, err
	}
	was, version, err := records.BreakGlassTold.Get(tx, tenant, records.BreakGlassToldID)
	if errors.Is(err, store.ErrNotFound) {
		was, version, err = &countersign.BreakGlass{}, 0, nil
	}
	if err != nil || was.At.Equal(settings.BreakGlass.At) {
		return nil, err
	}
	out := broken{BreakGlass: *settings.BreakGlass, tenant: tenant}
	if out.admins, err = records.Administrators(tx, tenant); err != nil {
		return nil, err
	}
	_, err = records.BreakGlassTold.Put(tx, tenant, records.BreakGlassToldID, settings.BreakGlass, version)
	return &out, err
}

// mail tells the administrators behind the start, which waits for no mail server.
func (s *TenantService) mail(ctx context.Context, b broken) {
	if s.Config.Post == nil {
		return
	}
	text := fmt.Sprintf("At %s the operator took weakening away from tenant %s, by countersign settings break-glass on the stopped store.\n\nReason: %s\n\nChanges that weaken what holds calls back are made at once, by one administrator, until it is set again. The audit log has the record.\n",
		b.At.UTC().Format("2006-01-02 15:04:05Z"), b.tenant, safetext.Escaped(b.Reason))
	s.Background.Go(func() {
		for _, email := range b.admins {
			if err := s.Config.Post.Send(context.WithoutCancel(ctx), email, "Countersign: weakening was taken away from "+b.tenant, text); err != nil {
				s.Log.WarnContext(ctx, "an administrator is not told that weakening was taken away", "email", email, "error", err)
			}
		}
	})
}

// shownGlass is settings as they are shown: a broken glass for its time.
func shownGlass(s countersign.TenantSettings, now time.Time) countersign.TenantSettings {
	if s.BreakGlass != nil && now.Sub(s.BreakGlass.At) >= countersign.BreakGlassShown {
		s.BreakGlass = nil
	}
	return s
}
