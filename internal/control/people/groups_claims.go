package people

import (
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/sessions"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// KeepClaims keeps with a user, in each of their tenants, which claims that groups name the
// identity provider made at this sign-in. Of a sign-in without a provider that is none: who
// was taken out of a group there must not stay a member by signing in otherwise.
func (s *GroupService) KeepClaims(tx store.Tx, email string, claims map[string][]string) error {
	users, err := sessions.Memberships(tx, email)
	if err != nil {
		return err
	}
	return keepClaimsOf(tx, users, claims)
}

// DropClaims is KeepClaims for a sign-in by what belongs to one tenant: its session acts in no
// other, and says nothing of the user there.
func DropClaims(tx store.Tx, tenant, email string) error {
	u, err := core.UserOf(tx, tenant, email)
	if countersign.ErrorCode(err) == countersign.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	return keepClaimsOf(tx, []*records.User{u}, nil)
}

func keepClaimsOf(tx store.Tx, users []*records.User, claims map[string][]string) error {
	for _, u := range users {
		groups, err := records.Groups.List(tx, u.TenantID, store.Query{Where: records.AllGroups()})
		if err != nil {
			return err
		}
		made := claimsNamed(groups, claims)
		stored, version, err := records.Users.Get(tx, u.TenantID, u.Email)
		if err != nil {
			return err
		}
		if slices.Equal(stored.Claims, made) {
			continue
		}
		next := *stored
		next.Claims = made
		if _, err := records.Users.Put(tx, u.TenantID, u.Email, &next, version); err != nil {
			return err
		}
	}
	return nil
}

// claimsNamed are those of the claims that groups name.
func claimsNamed(groups []countersign.Group, claims map[string][]string) (out []string) {
	for name, values := range claims {
		for _, value := range values {
			claim := name + "=" + value
			if slices.ContainsFunc(groups, func(g countersign.Group) bool { return g.Claim == claim }) {
				out = append(out, claim)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
