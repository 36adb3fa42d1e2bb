package people

import (
	"context"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// A token may name a user. If only people decide, it counts as that user once the user has
// confirmed it (contract 11).

// tokenUser returns the user of the tenant that a new token names; "" for none.
func tokenUser(tx store.Tx, tenant, email string) (string, error) {
	if email == "" {
		return "", nil
	}
	kept, err := hasUser(tx, tenant, email)
	if err == nil && !kept {
		email, err = Address("userEmail", email)
	}
	if err != nil {
		return "", err
	}
	_, err = core.UserOf(tx, tenant, email)
	if countersign.ErrorCode(err) == countersign.CodeNotFound {
		return "", countersign.Invalid("userEmail", "%s is not a user of tenant %s; add the user first, or leave it out", email, tenant)
	}
	return email, err
}

// ConfirmToken records that the user whom a token names confirms it. Only that user's
// session may, and no token: its holder could have made this one. Repeating it changes
// nothing.
func (s *TokenService) ConfirmToken(ctx context.Context, a core.Actor, id string) (t countersign.Token, err error) {
	err = s.Update(ctx, a, access.ConfirmToken, "token/"+id, func(tx store.Tx) error {
		if a.Session == "" {
			return countersign.Errorf(countersign.CodeRoleRequired, "a token is confirmed by its user's session in the console, not by a token")
		}
		rec, version, err := records.Tokens.Get(tx, a.Tenant, id)
		if err != nil {
			return core.Found(err, "token", id)
		}
		if err := confirmable(a, rec); err != nil {
			return err
		}
		if !rec.ConfirmedAt.IsZero() {
			t = rec.Shown()
			return nil
		}
		if !s.Usable(rec) {
			return countersign.Errorf(countersign.CodeStateConflict, "token %s has ended; nobody can use it any more", id)
		}
		rec.ConfirmedAt = s.Config.Now()
		if _, err := records.Tokens.Put(tx, a.Tenant, id, rec, version); err != nil {
			return err
		}
		t = rec.Shown()
		return s.Audit(tx, a, access.ConfirmToken, "token/"+id, core.Change{After: "confirmed"})
	})
	return t, err
}

// endConfirmations ends the confirmations of a user who leaves a tenant: if they are added
// again, they must confirm each token again.
func (s *TokenService) endConfirmations(tx store.Tx, a core.Actor, tenant, email string) error {
	all, err := records.Tokens.List(tx, tenant, store.Query{})
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].UserEmail != email || all[i].UserLeft && all[i].ConfirmedAt.IsZero() {
			continue
		}
		rec, version, err := records.Tokens.Get(tx, tenant, all[i].ID)
		if err != nil {
			return err
		}
		counted := rec.Person() != ""
		rec.ConfirmedAt, rec.UserLeft = time.Time{}, true
		if _, err := records.Tokens.Put(tx, tenant, rec.ID, rec, version); err != nil {
			return err
		}
		if !counted {
			continue
		}
		if err := s.AuditIn(tx, tenant, a, access.DeleteUser, "token/"+rec.ID, core.Change{Before: "confirmed", After: "to be confirmed"}); err != nil {
			return err
		}
	}
	return nil
}

func confirmable(a core.Actor, t *records.Token) error {
	switch t.UserEmail {
	case a.Email:
		return nil
	case "":
		return countersign.Errorf(countersign.CodeRoleRequired, "token %s names no user; there is nothing to confirm", t.ID)
	default:
		return countersign.Errorf(countersign.CodeRoleRequired, "only %s may confirm token %s", t.UserEmail, t.ID)
	}
}

// OwnToken is a token that names the session's user. Counts says that they made or
// confirmed it.
type OwnToken struct {
	countersign.Token
	Counts bool
}

// OwnTokens lists the usable tokens of this tenant that name the session's user, by id.
func (s *TokenService) OwnTokens(ctx context.Context, a core.Actor) (out []OwnToken, err error) {
	err = s.View(ctx, a, access.ReadSession, func(tx store.Tx) error {
		out = nil
		all, err := records.Tokens.List(tx, a.Tenant, store.Query{})
		for i := range all {
			if t := &all[i]; a.Email != "" && t.UserEmail == a.Email && s.Usable(t) {
				out = append(out, OwnToken{t.Shown(), t.Person() != ""})
			}
		}
		return err
	})
	return out, err
}
