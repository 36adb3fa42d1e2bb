package control

import (
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Reads of single administrative records, for the console's forms. The API only lists them.

// User reads one user of a tenant.
func (s *Service) User(ctx context.Context, a Actor, email, tenantID string) (u countersign.User, err error) {
	if email, err = s.storedSpelling(ctx, a, access.ReadUsers, tenantID, email); err != nil {
		return u, err
	}
	err = s.view(ctx, a, access.ReadUsers, func(tx store.Tx) error {
		tenant, err := tenantFor(tx, a, tenantID)
		if err != nil {
			return err
		}
		rec, _, err := records.Users.Get(tx, tenant, email)
		if err != nil {
			return found(err, "user", email)
		}
		u = rec.User
		return nil
	})
	return u, err
}

// Token reads the record of one token.
func (s *Service) Token(ctx context.Context, a Actor, id, tenantID string) (t countersign.Token, err error) {
	err = s.view(ctx, a, access.ReadTokens, func(tx store.Tx) error {
		tenant, err := tenantFor(tx, a, tenantID)
		if err != nil {
			return err
		}
		rec, _, err := records.Tokens.Get(tx, tenant, id)
		if err != nil {
			return found(err, "token", id)
		}
		t = rec.Shown()
		return nil
	})
	return t, err
}

// Tenant reads one tenant of the realm.
func (s *Service) Tenant(ctx context.Context, a Actor, id string) (t countersign.Tenant, err error) {
	err = s.view(ctx, a, access.ReadTenants, func(tx store.Tx) error {
		rec, _, err := records.Tenants.Get(tx, store.Realm, id)
		if err != nil {
			return found(err, "tenant", id)
		}
		t = *rec
		return nil
	})
	return t, err
}

// AuditRecord reads one record of a log by its sequence number.
func (s *Service) AuditRecord(ctx context.Context, a Actor, seq int64, realm bool) (r countersign.AuditRecord, err error) {
	log, err := logOf(a, realm)
	if err != nil {
		return r, err
	}
	err = s.view(ctx, a, access.ReadAudit, func(tx store.Tx) error {
		r, err = audit.Get(tx, log, seq)
		if errors.Is(err, store.ErrNotFound) {
			return countersign.Errorf(countersign.CodeNotFound, "there is no record %d in this log", seq)
		}
		return err
	})
	return r, err
}
