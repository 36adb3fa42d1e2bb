package notify

import (
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// people are the tenant's users who may decide an approval: with the role, with its
// project in their scope, and not for what they asked for themselves. Those who have
// been told are left out.
func (c *claiming) people(tenant string, a *records.Approval, told []string) (out []string, err error) {
	if err := usersOf(c.tx, tenant, c.users); err != nil {
		return nil, err
	}
	for i := range c.users[tenant] {
		u := &c.users[tenant][i]
		if c.mayDecide(u, a) && !slices.Contains(told, u.Email) && len(told)+len(out) < mostMails {
			out = append(out, u.Email)
		}
	}
	return out, nil
}

// usersOf reads a tenant's users, once.
func usersOf(tx store.Tx, tenant string, users map[string][]records.User) (err error) {
	if _, known := users[tenant]; !known {
		users[tenant], err = records.Users.List(tx, tenant, store.Query{})
	}
	return err
}

func (n *Notifier) mayDecide(u *records.User, a *records.Approval) bool {
	p := access.Principal{ID: "user:" + u.Email, Tenant: u.TenantID, Roles: u.Roles, Projects: u.ProjectIDs, Email: u.Email, Person: u.Email}
	return !u.Invited && slices.Contains(u.Roles, countersign.RoleApprover) && p.Covers(a.ProjectID) && n.cfg.Eyes.MayJudge(p, a.Requester) == nil
}
