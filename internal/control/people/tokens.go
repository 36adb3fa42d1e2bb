package people

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// TokenService is the use cases of tokens.
type TokenService struct{ *core.Core }

// NewTokens returns the use cases.
func NewTokens(c *core.Core) *TokenService { return &TokenService{Core: c} }

// Tokens lists a tenant's tokens by id, including revoked and expired ones. Their secrets
// were shown once and are not stored.
func (s *TokenService) Tokens(ctx context.Context, a core.Actor, l core.List, tenantID string) (page countersign.Page[countersign.Token], err error) {
	err = s.View(ctx, a, access.ReadTokens, func(tx store.Tx) error {
		tenant, err := core.TenantFor(tx, a, tenantID)
		if err != nil {
			return err
		}
		page, err = core.ShowPage(s.Core, tx, tenant, records.Tokens, l, l.Query(nil), func(t *records.Token) (countersign.Token, error) { return t.Shown(), nil })
		return err
	})
	return page, err
}

// CreateToken makes a token within its maker's tenant and projects; there an ADMIN grants
// any role (contract 3).
func (s *TokenService) CreateToken(ctx context.Context, a core.Actor, w countersign.TokenWrite) (out countersign.NewToken, err error) {
	if err := core.WellFormed(a, w); err != nil {
		return out, err
	}
	if err := checkToken(w); err != nil {
		return out, err
	}
	a = a.Asking("", w)
	id := s.Config.NewID("tok")
	secret := access.FormatToken(s.Config.NewSecret())
	err = s.UpdateInTurn(ctx, a, access.CreateToken, "token", func(tx store.Tx) error {
		tenant, err := core.TenantFor(tx, a, w.TenantID)
		if err != nil {
			return err
		}
		if err := core.OwnProjectIDs(tenant, w.ProjectIDs); err != nil {
			return err
		}
		if err := agentsOf(tx, a, tenant, w.AgentIDs); err != nil {
			return err
		}
		if err := mayGrantReads(a, w.Reads); err != nil {
			return err
		}
		granted := w // w stays as it is, since this may run more than once
		if granted.UserEmail, err = tokenUser(tx, tenant, w.UserEmail); err != nil {
			return err
		}
		if granted.Modes, err = modesOf(a, w); err != nil {
			return err
		}
		rec := s.newToken(a, tenant, id, granted)
		if err := putToken(tx, &rec, secret); err != nil {
			return err
		}
		out = countersign.NewToken{TokenRecord: rec.Shown(), Secret: secret}
		c := core.Change{After: describe(rec.Shown()), Weaker: core.Granted(nil, nil, rec.Roles, rec.ProjectIDs)}
		c.Weakens, c.Was, c.Now = len(c.Weaker) > 0, countersign.ObjectValue(nil), tokenShown(rec.Shown())
		return s.AuditIn(tx, tenant, a, access.CreateToken, "token/"+id, c)
	})
	return out, err
}

func (s *TokenService) newToken(a core.Actor, tenant, id string, w countersign.TokenWrite) records.Token {
	days := w.ExpiresInDays
	if days == 0 {
		days = countersign.MaxTokenDays
	}
	now := s.Config.Now()
	return records.Token{
		Token: countersign.Token{
			ID: id, Name: w.Name, TenantID: tenant, Roles: storedRoles(w), ProjectIDs: w.ProjectIDs, AgentIDs: w.AgentIDs, Modes: w.Modes, Reads: w.Reads,
			UserEmail: w.UserEmail, CreatedBy: a.ID, CreatedAt: now, ExpiresAt: now.Add(time.Duration(days) * 24 * time.Hour),
		},
		Lineage: a.Descent(),
	}
}

func putToken(tx store.Tx, rec *records.Token, secret string) error {
	rec.Hash = access.HashToken(secret)
	if _, err := records.Tokens.Put(tx, rec.TenantID, rec.ID, rec, 0); err != nil {
		return err
	}
	ref := &records.TokenRef{TenantID: rec.TenantID, TokenID: rec.ID}
	_, err := records.TokenHashes.Put(tx, store.Realm, rec.Hash, ref, 0)
	return err
}

func checkToken(w countersign.TokenWrite) error {
	var problems []countersign.Problem
	if safetext.Blank(w.Name) {
		problems = append(problems, countersign.Problem{Path: "name", Message: "say what the token is for; it can't be blank"})
	}
	if w.Roles == nil && w.Reads == nil {
		problems = append(problems, countersign.Problem{Path: "roles", Message: "name what the token may do, or in reads what it reads"})
	}
	problems = slices.Concat(problems, checkAgentToken(w), checkReadingToken(w), core.Repeated("reads", w.Reads),
		core.Repeated("roles", w.Roles), core.Repeated("projectIds", w.ProjectIDs), core.Repeated("agentIds", w.AgentIDs), core.Repeated("modes", w.Modes))
	return core.Wrong(problems)
}

func describe(t countersign.Token) string {
	text := fmt.Sprintf("%v", t.Roles)
	if t.Reads != nil {
		text = fmt.Sprintf("reads %v", t.Reads)
	}
	if t.ProjectIDs != nil {
		text += fmt.Sprintf(" projects %v", t.ProjectIDs)
	}
	if t.AgentIDs != nil {
		text += fmt.Sprintf(" agents %v", t.AgentIDs)
	}
	return text
}

// RevokeToken ends a token at once; revoking it again changes nothing.
func (s *TokenService) RevokeToken(ctx context.Context, a core.Actor, id, tenantID string) (t countersign.Token, err error) {
	err = s.Update(ctx, a, access.RevokeToken, "token/"+id, func(tx store.Tx) error {
		tenant, err := core.TenantFor(tx, a, tenantID)
		if err != nil {
			return err
		}
		rec, version, err := records.Tokens.Get(tx, tenant, id)
		if err != nil {
			return core.Found(err, "token", id)
		}
		if err := mayRevokeToken(tx, a, rec); err != nil {
			return err
		}
		if !rec.RevokedAt.IsZero() {
			t = rec.Shown()
			return nil
		}
		if rec.Realm {
			if err := keepsRealmAdmin(tx, s.Config.Now(), "token/"+id); err != nil {
				return err
			}
		}
		rec.RevokedAt = s.Config.Now()
		if _, err := records.Tokens.Put(tx, tenant, id, rec, version); err != nil {
			return err
		}
		t = rec.Shown()
		return s.AuditIn(tx, tenant, a, access.RevokeToken, "token/"+id, core.Change{Before: "valid", After: "revoked"})
	})
	return t, err
}

// Token reads the record of one token.
func (s *TokenService) Token(ctx context.Context, a core.Actor, id, tenantID string) (t countersign.Token, err error) {
	err = s.View(ctx, a, access.ReadTokens, func(tx store.Tx) error {
		tenant, err := core.TenantFor(tx, a, tenantID)
		if err != nil {
			return err
		}
		rec, _, err := records.Tokens.Get(tx, tenant, id)
		if err != nil {
			return core.Found(err, "token", id)
		}
		t = rec.Shown()
		return nil
	})
	return t, err
}
