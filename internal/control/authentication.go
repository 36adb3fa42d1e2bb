package control

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// errToken is the answer to malformed, unknown, revoked and expired tokens.
var errToken = countersign.Errorf(countersign.CodeUnauthenticated, "the token is unknown, expired or revoked; send a valid one as Authorization: Bearer")

// Authenticate finds the principal of a bearer token. Malformed, unknown, revoked and
// expired tokens get the same error.
func (s *Service) Authenticate(ctx context.Context, token string) (access.Principal, error) {
	if strings.HasPrefix(token, "csn_") && !access.WellFormed(token) {
		return access.Principal{}, errToken
	}
	rec, err := s.token(ctx, access.HashToken(token))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return access.Principal{}, errToken
	case err != nil:
		return access.Principal{}, public(err)
	}
	if s.ended(rec) {
		if rec.RevokedAt.IsZero() && !rec.Lapsed {
			s.lapse(ctx, rec)
		}
		return access.Principal{}, errToken
	}
	if now := s.cfg.Now(); now.Sub(rec.LastUsedAt) > lastUsePrecision {
		s.touch(ctx, rec, func(r *records.Token) { r.LastUsedAt = now })
	}
	return s.principalOf(rec), nil
}

// Expect finds the principal that a bearer token stood for when it was last looked at, which may be
// some time ago. It decides whether the body of a request is read, and nothing else: Authenticate
// comes after the body.
func (s *Service) Expect(ctx context.Context, token string) (access.Principal, error) {
	if k, ok := s.tokens.Get(access.HashToken(token)); ok && !s.ended(k.rec) {
		return s.principalOf(k.rec), nil
	}
	return s.Authenticate(ctx, token)
}

// ended reports a token that is good no more.
func (s *Service) ended(t *records.Token) bool {
	return t.Lapsed || !t.RevokedAt.IsZero() || !s.cfg.Now().Before(t.ExpiresAt)
}

// knownToken is a token's record, and the store's change count when it was read.
type knownToken struct {
	rec     *records.Token
	changes int64
}

// cachedTokens is how many tokens are cached.
const cachedTokens = 1024

// token finds a token's record by its hash. A cached record is used while the store says
// that no token has changed since.
func (s *Service) token(ctx context.Context, hash string) (rec *records.Token, err error) {
	var changes int64
	if s.alone != nil {
		changes = s.alone.Changes(store.TokenHashes, store.Tokens) // taken before the read
		if k, ok := s.tokens.Get(hash); ok && k.changes == changes {
			return k.rec, nil
		}
	}
	ref, known := s.tokenRefs.Get(hash) // a hash always belongs to the same token
	err = s.store.View(ctx, func(tx store.Tx) error {
		if !known {
			found, _, err := records.TokenHashes.Get(tx, store.Realm, hash)
			if err != nil {
				return err
			}
			ref = *found
		}
		rec, _, err = records.Tokens.Get(tx, ref.TenantID, ref.TokenID)
		return err
	})
	if err == nil && !known {
		s.tokenRefs.Put(hash, ref)
	}
	if err == nil {
		s.tokens.Put(hash, knownToken{rec, changes})
	}
	return rec, err
}

// CountStranger counts a request that was answered 401 (contract 9).
func (s *Service) CountStranger() { s.cfg.Metrics.Stranger() }

// lapse records that a token was seen expired before the caller is told, so that neither a
// clock that is set back nor a crash makes it valid again. If the store can't write, the
// next use records it.
func (s *Service) lapse(ctx context.Context, t *records.Token) {
	err := s.store.Update(ctx, func(tx store.Tx) error {
		rec, version, err := records.Tokens.Get(tx, t.TenantID, t.ID)
		if err != nil || rec.Lapsed {
			return err
		}
		rec.Lapsed = true
		_, err = records.Tokens.Put(tx, t.TenantID, t.ID, rec, version)
		return err
	})
	if err != nil {
		s.log.WarnContext(ctx, "can't record that a token has expired", "token", t.ID, "error", err)
	}
}

// lastUsePrecision is the precision of a token's last use.
const lastUsePrecision = 10 * time.Minute

// touch writes a token's last use in the background.
func (s *Service) touch(ctx context.Context, t *records.Token, set func(*records.Token)) {
	if _, underway := s.touching.LoadOrStore(t.ID, true); underway {
		return
	}
	s.background.Go(func() {
		defer s.touching.Delete(t.ID)
		ctx := context.WithoutCancel(ctx)
		err := s.store.Update(ctx, func(tx store.Tx) error {
			rec, version, err := records.Tokens.Get(tx, t.TenantID, t.ID)
			if err != nil {
				return err
			}
			set(rec)
			_, err = records.Tokens.Put(tx, t.TenantID, t.ID, rec, version)
			return err
		})
		crashpoint.At("control.touched", nil)
		if err != nil {
			s.log.WarnContext(ctx, "can't record a token's last use", "token", t.ID, "error", err)
		}
	})
}

// principalOf is a token's principal. Only where people decide does its user have to have
// confirmed it before it counts as them (contract 11).
func (s *Service) principalOf(t *records.Token) access.Principal {
	p := access.Principal{
		ID: "token:" + t.ID, Name: t.Name, Tenant: t.TenantID, Roles: t.Shown().Roles, Projects: t.ProjectIDs, Agents: t.AgentIDs, Modes: t.Modes,
		Realm: t.Realm, Email: t.UserEmail, Person: t.Person(), Lineage: t.Lineage, ExpiresAt: t.ExpiresAt,
	}
	if p.Person == "" && s.cfg.Eyes != access.EyesOfPeople && !t.UserLeft {
		p.Person = t.UserEmail
	}
	return p
}

// Bootstrap makes, on an empty store, the tenant `default`, its first token (a realm
// administrator with ADMIN), and the set-up link for the first person. It returns their
// secrets; none if the store isn't empty. given is the operator's choice of token, "" for
// a random one.
func (s *Service) Bootstrap(ctx context.Context, given string) (f First, err error) {
	made := First{Token: given, Link: access.FormatSecret(s.cfg.NewSecret())}
	if given == "" {
		made.Token = access.FormatToken(s.cfg.NewSecret())
	}
	id := s.cfg.NewID("tok")
	system := Actor{Principal: access.System(countersign.DefaultTenant)}
	err = s.store.Update(ctx, func(tx store.Tx) error {
		f = First{}
		n, err := tx.Count(store.Tenants, store.Realm, store.Query{})
		if err == nil && n > 0 && given != "" {
			f.Ignored, f.Revoked, err = useless(tx, given)
		}
		if err != nil || n > 0 {
			return err
		}
		f = made
		now := s.cfg.Now()
		t := &countersign.Tenant{ID: countersign.DefaultTenant, Name: "Default", Revision: 1, CreatedAt: now, UpdatedAt: now}
		if _, err := records.Tenants.Put(tx, store.Realm, t.ID, t, 0); err != nil {
			return err
		}
		if err := s.auditIn(tx, store.Realm, system, access.WriteTenant, "tenant/"+t.ID, change{after: revision(1)}); err != nil {
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
func (s *Service) issue(tx store.Tx, system Actor, tenant, id, secret string, role countersign.Role, realm bool) error {
	rec := s.newToken(system, tenant, id, countersign.TokenWrite{Name: "bootstrap", Roles: []countersign.Role{role}})
	rec.Realm, rec.Lineage = realm, nil
	if err := putToken(tx, &rec, secret); err != nil {
		return err
	}
	return s.auditIn(tx, tenant, system, access.CreateToken, "token/"+id, change{after: describe(rec.Token), weakens: grantsApproval(nil, nil, rec.Roles, rec.ProjectIDs)})
}

// IssueToken makes a token on a stopped store, for an operator who has lost all tokens
// (contract 10). An ADMIN of `default` is a realm administrator.
func (s *Service) IssueToken(ctx context.Context, tenant string, role countersign.Role) (secret string, err error) {
	secret = access.FormatToken(s.cfg.NewSecret())
	id := s.cfg.NewID("tok")
	err = s.store.Update(ctx, func(tx store.Tx) error {
		if _, _, err := records.Tenants.Get(tx, store.Realm, tenant); err != nil {
			return found(err, "tenant", tenant)
		}
		realm := tenant == countersign.DefaultTenant && role == countersign.RoleAdmin
		return s.issue(tx, Actor{Principal: access.System(tenant)}, tenant, id, secret, role, realm)
	})
	return secret, public(err)
}
