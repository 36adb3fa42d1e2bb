package people

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// A reading token has no role: it reads by its maker's (contract 12.7), for as long as the maker has
// it. So whoever renews one, renews it for its maker.

// RenewalGrace is how long a reading token is good after it was renewed: for whoever still uses it.
const RenewalGrace = 24 * time.Hour

// checkReadingToken refuses what a reading token has no use for.
func checkReadingToken(w countersign.TokenWrite) (problems []countersign.Problem) {
	if w.Reads == nil {
		return nil
	}
	not := func(given bool, field, why string) {
		if given {
			problems = append(problems, countersign.Problem{Path: field, Message: why + "; leave this out"})
		}
	}
	not(w.Roles != nil, "roles", "a token with reads has no role, and does nothing but read")
	not(w.AgentIDs != nil, "agentIds", "a token with reads acts for no agent")
	not(w.ProjectIDs != nil, "projectIds", "figures and audit logs are of the whole tenant")
	not(w.Modes != nil, "modes", "a token with reads starts nothing")
	not(w.UserEmail != "", "userEmail", "a token with reads decides nothing, so nobody stands behind it")
	if slices.Equal(w.Reads, []countersign.Reading{countersign.ReadsRealm}) {
		problems = append(problems, countersign.Problem{Path: "reads", Message: "name metrics or audit besides: realm says that it reads the realm's as well"})
	}
	return problems
}

// mayGrantReads is nil when the actor may let a token read this.
func mayGrantReads(a core.Actor, reads []countersign.Reading) error {
	if slices.Contains(reads, countersign.ReadsRealm) && !a.Realm {
		return countersign.Errorf(countersign.CodeRoleRequired, "only a realm administrator makes a token that reads the realm's log and figures; leave realm out of reads")
	}
	return nil
}

// modesOf are the modes of a new token: a reading token starts nothing, so it has none.
func modesOf(a core.Actor, w countersign.TokenWrite) ([]string, error) {
	if w.Reads != nil {
		return nil, nil
	}
	return core.WithinModes(a, w.Modes)
}

// RenewToken makes a token like the reading token that asks, once, and lets that one be good for a
// day more.
func (s *TokenService) RenewToken(ctx context.Context, a core.Actor) (out countersign.NewToken, err error) {
	own := strings.TrimPrefix(a.ID, "token:")
	id, secret := s.Config.NewID("tok"), access.FormatToken(s.Config.NewSecret())
	err = s.Update(ctx, a, access.RenewToken, "token/"+own, func(tx store.Tx) error {
		rec, version, err := records.Tokens.Get(tx, a.Tenant, own)
		if err != nil {
			return core.Found(err, "token", own)
		}
		if rec.RenewedAs != "" {
			return countersign.Errorf(countersign.CodeStateConflict, "this token was renewed already, as %s; use that one, or have an administrator make another", rec.RenewedAs)
		}
		now := s.Config.Now()
		next := s.renewal(rec, id, now)
		if err := putToken(tx, &next, secret); err != nil {
			return err
		}
		rec.RenewedAs = id
		if grace := now.Add(RenewalGrace); grace.Before(rec.ExpiresAt) {
			rec.ExpiresAt = grace
		}
		if _, err := records.Tokens.Put(tx, rec.TenantID, own, rec, version); err != nil {
			return err
		}
		out = countersign.NewToken{TokenRecord: next.Shown(), Secret: secret}
		return s.Audit(tx, a, access.RenewToken, "token/"+own, core.Change{Before: describe(rec.Shown()), After: "renewed as token/" + id})
	})
	return out, err
}

// renewal is a token like another one, of the same maker.
func (s *TokenService) renewal(of *records.Token, id string, now time.Time) records.Token {
	return records.Token{
		Token: countersign.Token{
			ID: id, Name: of.Name, TenantID: of.TenantID, Roles: of.Roles, Reads: of.Reads, CreatedBy: of.CreatedBy,
			CreatedAt: now, ExpiresAt: now.Add(countersign.MaxTokenDays * 24 * time.Hour),
		},
		Lineage: of.Lineage,
	}
}
