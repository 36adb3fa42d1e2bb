package people

import (
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/platform/passkey"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// TenantService is the use cases of tenants and their settings.
type TenantService struct {
	*core.Core
	party func() *passkey.Party // nil from it: browsers allow no passkeys at the public address
}

// NewTenants returns the use cases.
func NewTenants(c *core.Core, party func() *passkey.Party) *TenantService {
	return &TenantService{Core: c, party: party}
}

// Tenants lists the realm's tenants by id.
func (s *TenantService) Tenants(ctx context.Context, a core.Actor, l core.List) (page countersign.Page[countersign.Tenant], err error) {
	err = s.View(ctx, a, access.ReadTenants, func(tx store.Tx) error {
		page, err = records.Tenants.Page(tx, store.Realm, l.Query(nil))
		return err
	})
	return page, err
}

// PutTenant creates a tenant or, with the present revision, renames it. The
// realm's log records it.
func (s *TenantService) PutTenant(ctx context.Context, a core.Actor, id string, w countersign.TenantWrite) (t countersign.Tenant, err error) {
	if err := core.WellFormed(a, w); err != nil {
		return t, err
	}
	if !countersign.ValidTenantID(id) {
		return t, countersign.Invalid("id", "a tenant id is 2 to 32 lower-case letters and digits, a letter first, without hyphens")
	}
	err = s.Update(ctx, a, access.WriteTenant, "tenant/"+id, func(tx store.Tx) error {
		stored, version, err := records.Tenants.Get(tx, store.Realm, id)
		if errors.Is(err, store.ErrNotFound) {
			stored, version, err = &countersign.Tenant{ID: id, CreatedAt: s.Config.Now()}, 0, nil
		}
		if err != nil {
			return err
		}
		if err := core.Compare("tenant", id, stored.Revision, w.ExpectedRevision); err != nil {
			return err
		}
		c := core.Change{Before: core.Revision(stored.Revision), After: core.Revision(stored.Revision + 1)}
		stored.Name, stored.UpdatedAt = w.Name, s.Config.Now()
		stored.Revision++
		if _, err := records.Tenants.Put(tx, store.Realm, id, stored, version); err != nil {
			return err
		}
		t = *stored
		return s.AuditIn(tx, store.Realm, a, access.WriteTenant, "tenant/"+id, c)
	})
	return t, err
}

// Tenant reads one tenant of the realm.
func (s *TenantService) Tenant(ctx context.Context, a core.Actor, id string) (t countersign.Tenant, err error) {
	err = s.View(ctx, a, access.ReadTenants, func(tx store.Tx) error {
		rec, _, err := records.Tenants.Get(tx, store.Realm, id)
		if err != nil {
			return core.Found(err, "tenant", id)
		}
		t = *rec
		return nil
	})
	return t, err
}
