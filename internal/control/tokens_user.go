package control

import (
	"context"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/access"
	"github.com/countersign/countersign/internal/records"
	"github.com/countersign/countersign/internal/store"
)

// A token may stand for a user. Its maker says so; where people decide, it counts as
// the user once the user has said so too (contract 11).

// standsBehind is the user of the tenant whom a token that is made names; "" for none.
func standsBehind(tx store.Tx, tenant, email string) (string, error) {
	if email == "" {
		return "", nil
	}
	email, err := address("userEmail", email)
	if err != nil {
		return "", err
	}
	err = isUser(tx, tenant, email)
	if countersign.ErrorCode(err) == countersign.CodeNotFound {
		return "", countersign.Errorf(countersign.CodeInvalidRequest, "userEmail: %s is no user of tenant %s; add the user first, or leave it out", email, tenant)
	}
	return email, err
}

// ConfirmToken lets the user whom a token names say that it is theirs. Nobody else may,
// and no token: whoever has one could have made it. Saying it again changes nothing.
func (s *Service) ConfirmToken(ctx context.Context, a Actor, id string) (t countersign.Token, err error) {
	err = s.update(ctx, a, access.ConfirmToken, "token/"+id, func(tx store.Tx) error {
		if a.Session == "" {
			return countersign.Errorf(countersign.CodeRoleRequired, "a token is confirmed by its user's session in the console, not by a token")
		}
		rec, version, err := records.Tokens.Get(tx, a.Tenant, id)
		if err != nil {
			return found(err, "token", id)
		}
		if err := confirmable(a, rec); err != nil {
			return err
		}
		if !rec.ConfirmedAt.IsZero() {
			t = rec.Shown()
			return nil
		}
		if !s.usable(rec) {
			return countersign.Errorf(countersign.CodeStateConflict, "token %s has ended; nobody can use it any more", id)
		}
		rec.ConfirmedAt = s.cfg.Now()
		if _, err := records.Tokens.Put(tx, a.Tenant, id, rec, version); err != nil {
			return err
		}
		t = rec.Shown()
		return s.audit(tx, a, access.ConfirmToken, "token/"+id, change{after: "confirmed"})
	})
	return t, err
}

func confirmable(a Actor, t *records.Token) error {
	switch t.UserEmail {
	case a.Email:
		return nil
	case "":
		return countersign.Errorf(countersign.CodeRoleRequired, "token %s names no user; there is nothing to confirm", t.ID)
	default:
		return countersign.Errorf(countersign.CodeRoleRequired, "only %s may confirm token %s", t.UserEmail, t.ID)
	}
}

// usable reports a token that requests may still be made with.
func (s *Service) usable(t *records.Token) bool {
	return t.RevokedAt.IsZero() && !t.Lapsed && s.cfg.Now().Before(t.ExpiresAt)
}

// OwnTokens lists the usable tokens of this tenant that name the session's user, by id.
func (s *Service) OwnTokens(ctx context.Context, a Actor) (out []countersign.Token, err error) {
	err = s.view(ctx, a, access.ReadSession, func(tx store.Tx) error {
		all, err := records.Tokens.List(tx, a.Tenant, store.Query{})
		all = slices.DeleteFunc(all, func(t records.Token) bool { return t.UserEmail != a.Email || a.Email == "" || !s.usable(&t) })
		out = make([]countersign.Token, len(all))
		for i := range all {
			out[i] = all[i].Token
		}
		return err
	})
	return out, err
}
