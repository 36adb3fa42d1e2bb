// Package access holds the authorization rules: principals, their roles and project
// scopes, the rule of every operation, and the four-eyes rule. It is pure; only
// internal/control calls it.
package access

import (
	"slices"
	"time"

	"github.com/countersign/countersign"
)

// Principal is the authenticated caller. It acts in one tenant; a realm administrator
// may also use the operations on tenants, but not the models, projects, runs or
// approvals of other tenants.
type Principal struct {
	ID        string // user:<email>, token:<id>, agent:<id> of one that signs in at an identity provider, or system
	Name      string // what it is called: a token's name, a user's e-mail address
	Tenant    string
	Roles     []countersign.Role
	Projects  []string              // nil: every project of the tenant
	Agents    []string              // of an agent token: those it acts for; nil for everybody else
	Modes     []string              // nil: both
	Reads     []countersign.Reading // of a reading token: what it reads at this moment; nil for everybody else
	Realm     bool                  // realm administrator
	Email     string                // the user behind it, "" when none stands there
	Person    string                // the user as whom it acts: of a session, or of a token, which under four eyes of people is confirmed
	Lineage   []string              // for a token, or a session that a sign-in link began: who made it, who made that one, and so on
	ExpiresAt time.Time
	Session   string // the id of a browser's session, "" for a token

	Identity   *countersign.Identity   // by which an agent signed in at an identity provider; nil for everybody else
	OnBehalfOf *countersign.OnBehalfOf // the person for whom it acts; nil for nobody
	SignedInBy []string                // issuers by which Person has signed in, looked up where a stranger asked
}

// Descent is the lineage of a token or link that the principal makes: itself, the user
// who stands behind it, and its own makers. Without the user, somebody who made
// a token through a token would not count as its maker.
func (p Principal) Descent() []string {
	return p.Requester().Chain()
}

// System is the service itself, where no person acts.
func System(tenant string) Principal {
	return Principal{ID: countersign.SystemPrincipal, Tenant: tenant}
}

// Limited reports a principal that reaches some projects only.
func (p Principal) Limited() bool { return p.Projects != nil }

// Covers reports whether all of the projects are within the principal's scope.
func (p Principal) Covers(projects ...string) bool {
	if !p.Limited() {
		return true
	}
	for _, id := range projects {
		if !slices.Contains(p.Projects, id) {
			return false
		}
	}
	return true
}

func (p Principal) hasAny(roles []countersign.Role) bool {
	for _, r := range roles {
		if slices.Contains(p.Roles, r) {
			return true
		}
	}
	return false
}
