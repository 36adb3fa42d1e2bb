package people

import (
	"errors"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// A realm administrator is a user or token of `default` that is marked as one (contract 3).
// A tenant's ADMIN can't change them, although they are members like others (contract 11).
// The last one can't be removed: nobody else could make another.

// mayChangeUser returns nil if the actor may change or remove the user.
func mayChangeUser(a core.Actor, u *records.User) error {
	if !u.Realm {
		return nil
	}
	return access.OverRealm(a.Principal)
}

// mayRevokeToken returns nil if the actor may revoke the token. Only a realm administrator
// revokes a token that is one, or that stands for one. A token that merely names a realm
// administrator, who hasn't confirmed it, doesn't stand for them: otherwise any ADMIN could
// make tokens that other ADMINs can't revoke.
func mayRevokeToken(tx store.Tx, a core.Actor, t *records.Token) error {
	if t.Realm {
		return access.OverRealm(a.Principal)
	}
	if t.UserEmail == "" {
		return nil
	}
	u, _, err := records.Users.Get(tx, t.TenantID, t.UserEmail)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil || !u.Realm {
		return err
	}
	if t.Person() == "" {
		if byRealm, err := isRealm(tx, t.CreatedBy); err != nil || !byRealm {
			return err
		}
	}
	return mayChangeUser(a, u)
}

// isRealm reports whether the principal is a realm administrator.
func isRealm(tx store.Tx, principal string) (bool, error) {
	kind, id, _ := strings.Cut(principal, ":")
	var err error
	switch kind {
	case "token":
		var t *records.Token
		if t, _, err = records.Tokens.Get(tx, countersign.DefaultTenant, id); err == nil {
			return t.Realm, nil
		}
	case "user":
		var u *records.User
		if u, _, err = records.Users.Get(tx, countersign.DefaultTenant, id); err == nil {
			return u.Realm, nil
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return principal == countersign.SystemPrincipal, err
}

// keepsRealmAdmin refuses to remove the last realm administrator. gone is the subject to
// remove. Expired tokens don't count.
func keepsRealmAdmin(tx store.Tx, now time.Time, gone string) error {
	users, err := records.Users.List(tx, countersign.DefaultTenant, store.Query{})
	if err != nil {
		return err
	}
	for _, u := range users {
		if u.Realm && gone != "user/"+u.Email {
			return nil
		}
	}
	tokens, err := records.Tokens.List(tx, countersign.DefaultTenant, store.Query{})
	if err != nil {
		return err
	}
	for _, t := range tokens {
		if t.Realm && t.RevokedAt.IsZero() && !t.Lapsed && now.Before(t.ExpiresAt) && gone != "token/"+t.ID {
			return nil
		}
	}
	return countersign.Errorf(countersign.CodeStateConflict, "this is the last realm administrator; make another one first: a token by countersign token issue --tenant default --role ADMIN")
}
