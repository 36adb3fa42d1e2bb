package people

import (
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Bootstrap makes, on an empty store, the tenant `default`, its first token (a realm
// administrator with ADMIN), and the set-up link for the first person. It returns their
// secrets; none if the store isn't empty. given is the operator's choice of token, "" for
// a random one.
func (s *TokenService) Bootstrap(ctx context.Context, given string) (f First, err error) {
	made := First{Token: given, Link: access.FormatSecret(s.Config.NewSecret())}
	if given == "" {
		made.Token = access.FormatToken(s.Config.NewSecret())
	}
	id := s.Config.NewID("tok")
	system := core.Actor{Principal: access.System(countersign.DefaultTenant)}
	err = s.Store.Update(ctx, func(tx store.Tx) error {
		f = First{}
		n, err := tx.Count(store.Tenants, store.Realm, store.Query{})
		if err == nil && n > 0 && given != "" {
			f.Ignored, f.Revoked, err = useless(tx, given)
		}
		if err != nil || n > 0 {
			return err
		}
		f = made
		now := s.Config.Now()
		t := &countersign.Tenant{ID: countersign.DefaultTenant, Name: "Default", Revision: 1, CreatedAt: now, UpdatedAt: now}
		if _, err := records.Tenants.Put(tx, store.Realm, t.ID, t, 0); err != nil {
			return err
		}
		if err := s.AuditIn(tx, store.Realm, system, access.WriteTenant, "tenant/"+t.ID, core.Change{After: core.Revision(1)}); err != nil {
			return err
		}
		link := &records.SetupLink{Hash: access.HashToken(made.Link), ExpiresAt: now.Add(access.SetupLife)}
		if _, err := records.SetupLinks.Put(tx, store.Realm, records.SetupID, link, 0); err != nil {
			return err
		}
		return s.issue(tx, system, t.ID, id, made.Token, countersign.RoleAdmin, true)
	})
	crashpoint.At("control.bootstrapped", nil)
	return f, err
}

// First holds the secrets of a new store, shown once: a token, and the secret part of the
// set-up link for the first person. Ignored: the store isn't new, and doesn't know the token
// that the operator chose. Revoked: it knows it, and it is revoked.
type First struct {
	Token, Link      string
	Ignored, Revoked bool
}

// useless reports why the operator's choice of token authenticates nobody in a store that isn't new.
func useless(tx store.Tx, given string) (unknown, revoked bool, err error) {
	ref, _, err := records.TokenHashes.Get(tx, store.Realm, access.HashToken(given))
	if errors.Is(err, store.ErrNotFound) {
		return true, false, nil
	}
	if err != nil {
		return false, false, err
	}
	t, _, err := records.Tokens.Get(tx, ref.TenantID, ref.TokenID)
	return false, err == nil && !t.RevokedAt.IsZero(), err
}

// issue stores a token that the system made, with its audit record.
func (s *TokenService) issue(tx store.Tx, system core.Actor, tenant, id, secret string, role countersign.Role, realm bool) error {
	rec := s.newToken(system, tenant, id, countersign.TokenWrite{Name: "bootstrap", Roles: []countersign.Role{role}})
	rec.Realm, rec.Lineage = realm, nil
	if err := putToken(tx, &rec, secret); err != nil {
		return err
	}
	return s.AuditIn(tx, tenant, system, access.CreateToken, "token/"+id, core.Change{After: describe(rec.Token), Weakens: len(core.Granted(nil, nil, rec.Roles, rec.ProjectIDs)) > 0})
}

// IssueToken makes a token on a stopped store, for an operator who has lost all tokens
// (contract 10). An ADMIN of `default` is a realm administrator.
func (s *TokenService) IssueToken(ctx context.Context, tenant string, role countersign.Role) (secret string, err error) {
	secret = access.FormatToken(s.Config.NewSecret())
	id := s.Config.NewID("tok")
	err = s.Store.Update(ctx, func(tx store.Tx) error {
		if _, _, err := records.Tenants.Get(tx, store.Realm, tenant); err != nil {
			return core.Found(err, "tenant", tenant)
		}
		realm := tenant == countersign.DefaultTenant && role == countersign.RoleAdmin
		return s.issue(tx, core.Actor{Principal: access.System(tenant)}, tenant, id, secret, role, realm)
	})
	return secret, core.Public(err)
}
