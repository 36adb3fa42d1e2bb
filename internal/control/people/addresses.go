package people

import (
	"context"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Release 0.1 stored an address as it was typed, in lower case. A user whose stored address
// isn't in canonical form can't sign in, since a sign-in looks up the canonical form. An
// operator reaches such a user by the exact spelling that the list shows.

// StoredSpelling returns the address under which a user is stored: text itself if the
// tenant has a user of exactly that spelling, else its canonical form. A caller who may not
// do op doesn't learn which users exist.
func (s *UserService) StoredSpelling(ctx context.Context, a core.Actor, op access.Operation, tenantID, text string) (string, error) {
	email, bad := Address("email", text)
	if email == text || access.Allow(a.Principal, op) != nil {
		return email, bad
	}
	kept := false
	err := s.Store.View(ctx, func(tx store.Tx) (err error) {
		tenant, refused := core.TenantFor(tx, a, tenantID)
		if refused == nil { // else the operation says so
			kept, err = hasUser(tx, tenant, text)
		}
		return err
	})
	if err != nil {
		return "", core.Public(err)
	}
	if kept {
		return text, nil
	}
	return email, bad
}

// hasUser reports whether the tenant has a user of exactly this spelling.
func hasUser(tx store.Tx, tenant, text string) (bool, error) {
	if text == "" || len(text) > maxEmail || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return false, nil
	}
	_, _, err := records.Users.Get(tx, tenant, text)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// newUser refuses a new user whose address looks like an existing user's, or is the
// canonical form of an address that the tenant has in another spelling.
func newUser(tx store.Tx, tenant, text string) error {
	email, err := Address("email", text) // the user in the stored spelling may have been deleted since
	if err == nil {
		err = NewAddress("email", email)
	}
	if err != nil {
		return err
	}
	if email != text {
		return countersign.Errorf(countersign.CodeStateConflict, "user %s was removed just now; read the users and try again", asciiOf(text))
	}
	users, err := records.Users.List(tx, tenant, store.Query{})
	if err != nil {
		return err
	}
	for _, u := range users {
		if access.Folded(u.Email) == email {
			return countersign.Errorf(countersign.CodeStateConflict, "an earlier release kept this address as %s; remove that user first: DELETE /users/%s", asciiOf(u.Email), pathOf(u.Email))
		}
	}
	return nil
}
