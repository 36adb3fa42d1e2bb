package sessions

import (
	"errors"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// DropLink deletes a user's sign-in link, if there is one. The caller stores the user, or
// deletes them.
func DropLink(tx store.Tx, u *records.User) error {
	if u.Link == "" {
		return nil
	}
	id := u.Link
	u.Link = ""
	return records.SignInLinks.Delete(tx, store.Realm, id)
}

// DropPasskey ends a passkey.
func DropPasskey(tx store.Tx, p *records.Passkey) error {
	return errors.Join(
		records.PasskeyRefs.Delete(tx, store.Realm, records.PasskeyRefID(p.Key.ID)),
		records.Passkeys.Delete(tx, p.TenantID, records.PasskeyID(p.Email, p.Key.ID)),
	)
}

// DropPasskeys ends the passkeys of a user who leaves a tenant: none works if they are added
// again.
func DropPasskeys(tx store.Tx, tenant, email string) error {
	all, err := PasskeysOf(tx, tenant, email)
	for i := range all {
		err = errors.Join(err, DropPasskey(tx, &all[i]))
	}
	return err
}

// PasskeysOf lists a user's passkeys in a tenant, the oldest first.
func PasskeysOf(tx store.Tx, tenant, email string) ([]records.Passkey, error) {
	if email == "" {
		return nil, nil
	}
	all, err := records.Passkeys.List(tx, tenant, store.Query{Where: records.PasskeysOf(email)})
	slices.SortFunc(all, func(x, y records.Passkey) int { return x.CreatedAt.Compare(y.CreatedAt) })
	return all, err
}

// PasskeyByID finds a passkey of whatever user.
func PasskeyByID(tx store.Tx, id []byte) (*records.Passkey, int64, error) {
	ref, _, err := records.PasskeyRefs.Get(tx, store.Realm, records.PasskeyRefID(id))
	if err != nil {
		return nil, 0, err
	}
	return records.Passkeys.Get(tx, ref.TenantID, records.PasskeyID(ref.Email, id))
}

// ErrNoPasskeys refuses everything about passkeys.
var ErrNoPasskeys = countersign.Errorf(countersign.CodeStateConflict, "browsers allow no passkeys at this service's public address; it must be https, or http://localhost")
