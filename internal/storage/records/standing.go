package records

import (
	"errors"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/store"
)

// Moment is when, and under whose four eyes, it is asked who counts for what is undecided.
type Moment struct {
	Now  time.Time
	Eyes access.Eyes
}

// stands reports whether who decided an approval may decide it at this moment still: a user of
// the tenant, or a token that is neither revoked nor expired, with the role and the project.
// A token that names a user stands as that user does; where people decide, it names one who has
// made or confirmed it.
func (m Moment) stands(tx store.Tx, tenant string, r *Approval, by Decider, given time.Time) (bool, error) {
	kind, id, _ := strings.Cut(by.ID, ":")
	switch kind {
	case "user":
		return userStands(tx, tenant, r, id, given)
	case "token":
		return m.tokenStands(tx, tenant, r, id, given)
	}
	return by.ID == countersign.SystemPrincipal, nil
}

// userStands reports a user who may decide an approval, and was one of the tenant when the
// decision was given: who was removed and added again isn't known to be the same person.
func userStands(tx store.Tx, tenant string, r *Approval, email string, given time.Time) (bool, error) {
	u, _, err := Users.Get(tx, tenant, email)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	}
	return !u.Invited && !u.CreatedAt.After(given) && mayDecide(access.Principal{Roles: u.Roles, Projects: u.ProjectIDs}, r), nil
}

func (m Moment) tokenStands(tx store.Tx, tenant string, r *Approval, id string, given time.Time) (bool, error) {
	t, _, err := Tokens.Get(tx, tenant, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	}
	held := access.Principal{Roles: t.Roles, Projects: t.ProjectIDs, Agents: t.AgentIDs, Modes: t.Modes}
	if !t.RevokedAt.IsZero() || t.Lapsed || !m.Now.Before(t.ExpiresAt) || !mayDecide(held, r) {
		return false, nil
	}
	switch {
	case t.UserEmail == "":
		return m.Eyes != access.EyesOfPeople, nil
	case t.Person() == "" && (t.UserLeft || m.Eyes == access.EyesOfPeople):
		return false, nil
	}
	if _, _, err := Users.Get(tx, tenant, t.UserEmail); errors.Is(err, store.ErrNotFound) && m.Eyes != access.EyesOfPeople {
		return true, nil // it stands for itself: an earlier release let tokens name who never was a user
	}
	return userStands(tx, tenant, r, t.UserEmail, given)
}

// mayDecide reports roles, projects and modes by which the approval may be decided.
func mayDecide(p access.Principal, r *Approval) bool {
	return access.Allow(p, access.DecideApproval) == nil && access.InScope(p, r.ProjectID) == nil && access.Mode(p, countersign.ModeLive) == nil
}
