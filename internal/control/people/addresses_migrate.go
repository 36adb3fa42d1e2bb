package people

import (
	"context"
	"net/url"
	"slices"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// OldAddress is a user whose address an earlier release stored in another form.
type OldAddress struct {
	TenantID string
	Email    string // as stored
	Now      string // its canonical form, "" if it isn't a valid address any more

	// Free says that no tenant has another user with the same canonical form, so the
	// address can be changed to it.
	Free bool
}

// Shown is the address with non-ASCII characters as escapes, since it may look the same
// as its canonical form.
func (o OldAddress) Shown() string { return asciiOf(o.Email) }

// Path is the address as an element of a request's path.
func (o OldAddress) Path() string { return pathOf(o.Email) }

func asciiOf(email string) string { q := strconv.QuoteToASCII(email); return q[1 : len(q)-1] }

func pathOf(email string) string { return url.PathEscape(email) }

// OldAddresses lists, over all tenants, the users whose address isn't in canonical form. A user
// that can't be read has the address of its id all the same.
func OldAddresses(tx store.Tx) (old []OldAddress, err error) {
	tenants, err := records.TenantIDs(tx)
	if err != nil {
		return nil, err
	}
	spellings := map[string]map[string]bool{} // by canonical form
	for _, tenant := range tenants {
		rows, err := tx.List(store.Users, tenant, store.Query{})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			email := row.ID
			folded := access.Folded(email)
			if spellings[folded] == nil {
				spellings[folded] = map[string]bool{}
			}
			spellings[folded][email] = true
			if folded != email && records.Decode(row, &records.User{}) == nil {
				now, _ := Address("email", email) // "" if it is refused
				old = append(old, OldAddress{TenantID: tenant, Email: email, Now: now})
			}
		}
	}
	for i, o := range old {
		old[i].Free = o.Now != "" && len(spellings[o.Now]) == 1
	}
	return old, nil
}

// FoldAddresses changes stored addresses to their canonical form where no other user has
// it, and logs the others. The users' sessions end; their tokens stay valid. Past records
// keep the old spelling.
func (s *UserService) FoldAddresses(ctx context.Context) error {
	var old []OldAddress
	err := s.Store.View(ctx, func(tx store.Tx) (err error) { old, err = OldAddresses(tx); return err })
	if err != nil {
		return err
	}
	for _, o := range old {
		err := s.Store.Update(ctx, func(tx store.Tx) error {
			now, err := OldAddresses(tx)
			if err != nil || !o.Free || !slices.Contains(now, o) {
				return err
			}
			return s.foldAddress(tx, o)
		})
		if err := s.Config.Unreadable.Pass(unreadable.Record{Tenant: o.TenantID, Kind: "user", ID: o.Email}, err); err != nil {
			return err
		}
	}
	for _, o := range old {
		if !o.Free {
			s.Log.Warn("an earlier release stored this user's address in a form that isn't canonical, and the canonical form is invalid or another user's: nobody can sign in with it; delete the user, or reduce their rights, at the path", "tenant", o.TenantID, "address", o.Shown(), "path", "/v1/users/"+o.Path())
		}
	}
	return nil
}

func (s *UserService) foldAddress(tx store.Tx, o OldAddress) error {
	u, _, err := records.Users.Get(tx, o.TenantID, o.Email)
	if err != nil {
		return err
	}
	u.Email, u.UpdatedAt = o.Now, s.Config.Now()
	if _, err := records.Users.Put(tx, o.TenantID, o.Now, u, 0); err != nil {
		return err
	}
	if err := records.Users.Delete(tx, o.TenantID, o.Email); err != nil {
		return err
	}
	if err := endSessions(tx, o.Email, o.TenantID); err != nil {
		return err
	}
	if err := foldTokens(tx, o); err != nil {
		return err
	}
	system := core.Actor{Principal: access.System(countersign.DefaultTenant)}
	c := core.Change{Before: o.Shown(), After: o.Now, Reason: "an earlier release kept the address in another form"}
	return s.AuditIn(tx, o.TenantID, system, access.WriteUser, "user/"+o.Now, c)
}

// foldTokens updates the tokens that name the user; confirmed ones stay confirmed.
func foldTokens(tx store.Tx, o OldAddress) error {
	all, err := records.Tokens.List(tx, o.TenantID, store.Query{})
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].UserEmail != o.Email {
			continue
		}
		rec, version, err := records.Tokens.Get(tx, o.TenantID, all[i].ID)
		if err != nil {
			return err
		}
		if rec.Person() != "" && rec.ConfirmedAt.IsZero() {
			rec.ConfirmedAt = rec.CreatedAt // the user made the token, under the old spelling
		}
		rec.UserEmail = o.Now
		if _, err := records.Tokens.Put(tx, o.TenantID, rec.ID, rec, version); err != nil {
			return err
		}
	}
	return nil
}
