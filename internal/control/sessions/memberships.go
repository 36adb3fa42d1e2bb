package sessions

import (
	"fmt"
	"slices"

	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// Belongs reports whether the address is a user of some tenant.
func Belongs(tx store.Tx, email string) (bool, error) {
	list, err := Memberships(tx, email)
	return len(list) > 0, err
}

// Memberships returns an address's user records by tenant; invitations those that are
// only invited.
func Memberships(tx store.Tx, email string) ([]*records.User, error) {
	return recordsOf(tx, email, false)
}

// Invitations returns the user records of an address that are only invited, by tenant.
func Invitations(tx store.Tx, email string) ([]*records.User, error) {
	return recordsOf(tx, email, true)
}

// recordsOf reads an address's records in all tenants; there are few tenants. One that can't be
// read gives no rights in its tenant, and takes none away in another.
func recordsOf(tx store.Tx, email string, invited bool) ([]*records.User, error) {
	tenants, err := records.TenantIDs(tx)
	if err != nil {
		return nil, err
	}
	var out []*records.User
	for _, tenant := range tenants {
		u, _, err := records.Users.Get(tx, tenant, email)
		switch {
		case unreadable.Is(err):
		case err != nil:
			return nil, err
		case u.Invited == invited:
			out = append(out, u)
		}
	}
	return out, nil
}

// lastUsed is the membership that a session used last. If none was used, it is one of a
// realm administrator, else that of the first tenant.
func lastUsed(users []*records.User) *records.User {
	best := users[0]
	for _, u := range users[1:] {
		later, never := u.UsedAt.After(best.UsedAt), u.UsedAt.IsZero() && best.UsedAt.IsZero()
		if later || never && u.Realm && !best.Realm {
			best = u
		}
	}
	return best
}

// markUsed records that a session uses this membership now.
func (s *SessionService) markUsed(tx store.Tx, u *records.User) error {
	stored, version, err := records.Users.Get(tx, u.TenantID, u.Email)
	if err != nil {
		return err
	}
	stored.UsedAt = s.Config.Now()
	_, err = records.Users.Put(tx, u.TenantID, u.Email, stored, version)
	return err
}

// AdmitUser turns an invitation into a membership.
func (s *SessionService) AdmitUser(tx store.Tx, u *records.User, requestID string) error {
	stored, version, err := records.Users.Get(tx, u.TenantID, u.Email)
	if err != nil {
		return err
	}
	stored.Invited, stored.UpdatedAt = false, s.Config.Now()
	if _, err := records.Users.Put(tx, u.TenantID, u.Email, stored, version); err != nil {
		return err
	}
	*u = *stored
	who := core.Actor{Principal: core.PrincipalOfUser(u), RequestID: requestID}
	c := core.Change{Before: "invited", After: RightsOf(*u), Weakens: len(core.Granted(nil, nil, u.Roles, u.ProjectIDs)) > 0}
	return s.AuditIn(tx, u.TenantID, who, access.AcceptInvitation, "user/"+u.Email, c)
}

// MembershipToEnter returns the membership that a sign-in begins in: the one last used. An
// address that belongs to no tenant accepts its oldest invitation by signing in. Nil if the
// address has neither.
func (s *SessionService) MembershipToEnter(tx store.Tx, email, requestID string) (*records.User, error) {
	list, err := Memberships(tx, email)
	if err != nil {
		return nil, err
	}
	if len(list) > 0 {
		return lastUsed(list), nil
	}
	offers, err := Invitations(tx, email)
	if err != nil || len(offers) == 0 {
		return nil, err
	}
	first := slices.MinFunc(offers, func(x, y *records.User) int { return x.CreatedAt.Compare(y.CreatedAt) })
	return first, s.AdmitUser(tx, first, requestID)
}

// RightsOf names a user's rights as audit records do.
func RightsOf(u records.User) string {
	text := fmt.Sprintf("%v", u.Roles)
	if u.Invited {
		text += " invited"
	}
	if u.Realm {
		text += " realm administrator"
	}
	if u.ProjectIDs != nil {
		text += fmt.Sprintf(" projects %v", u.ProjectIDs)
	}
	return text
}
