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
		if slices.Contains(told, u.Email) || len(told)+len(out) >= mostMails {
			continue
		}
		may, err := c.mayDecide(c.tx, tenant, u, a)
		if err != nil {
			return nil, err
		}
		if may {
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

// mayDecide reports a user who may give the next decision: they haven't given one, and are
// a member of a group that the approval names.
func (n *Notifier) mayDecide(tx store.Tx, tenant string, u *records.User, a *records.Approval) (bool, error) {
	p := access.Principal{ID: "user:" + u.Email, Tenant: u.TenantID, Roles: u.Roles, Projects: u.ProjectIDs, Email: u.Email, Person: u.Email}
	if u.Invited || !slices.Contains(u.Roles, countersign.RoleApprover) || !p.Covers(a.ProjectID) || n.cfg.Eyes.MayJudge(p, a.Requester) != nil {
		return false, nil
	}
	for _, other := range a.Deciders {
		if access.SameDecider(p.Requester(), other.Requester) || n.cfg.Eyes.MayJoin(p.Requester(), other.Requester) != nil {
			return false, nil
		}
	}
	in, err := records.GroupsOf(tx, tenant, a.Groups, u.Email)
	return access.AsMember(p, a.Groups, in) == nil, err
}
