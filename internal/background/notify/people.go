package notify

import (
	"errors"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// people returns the addresses of the tenant's users who may decide an approval, without
// those in told, and not more than maxRecipients together with them.
func (c *claiming) people(tenant string, a *records.Approval, told []string) (out []string, err error) {
	if err := errors.Join(c.usersOf(c.tx, tenant, c.users), c.awayIn(c.tx, tenant, c.away)); err != nil {
		return nil, err
	}
	for i := range c.users[tenant] {
		u := &c.users[tenant][i]
		if slices.Contains(told, u.Email) || len(told)+len(out) >= maxRecipients {
			continue
		}
		may, err := c.mayDecide(c.tx, tenant, u, a, c.away[tenant])
		if err != nil {
			return nil, err
		}
		if may {
			out = append(out, u.Email)
		}
	}
	return out, nil
}

// usersOf reads a tenant's users into the map unless they are there.
func (n *Notifier) usersOf(tx store.Tx, tenant string, users map[string][]records.User) (err error) {
	if _, known := users[tenant]; !known {
		users[tenant], err = unreadable.List(n.cfg.Unreadable, tx, "user", records.Users, tenant, store.Query{})
	}
	return err
}

// awayIn reads a tenant's delegations into the map unless they are there.
func (n *Notifier) awayIn(tx store.Tx, tenant string, away map[string][]countersign.Delegation) (err error) {
	if _, known := away[tenant]; !known {
		away[tenant], err = unreadable.List(n.cfg.Unreadable, tx, "delegation", records.Delegations, tenant, store.Query{Where: records.AllDelegations()})
	}
	return err
}

// nameOf is the name of who asked, "" if its record can't be read.
func (n *Notifier) nameOf(tx store.Tx, tenant, id string) (string, error) {
	name, err := records.NameOf(tx, tenant, id)
	return name, n.cfg.Unreadable.Pass(unreadable.Record{Tenant: tenant, Kind: "principal", ID: id}, err)
}

// mayDecide reports whether a user may give the next decision: as a member of a group that
// the approval names, as a member of a group that it has escalated to, or as the delegate of
// a member who is away.
func (n *Notifier) mayDecide(tx store.Tx, tenant string, u *records.User, a *records.Approval, away []countersign.Delegation) (bool, error) {
	if able, err := n.eligible(tx, tenant, u, a); err != nil || !able {
		return false, err
	}
	in, err := records.EligibilityOf(tx, tenant, a, away, u.Email, n.cfg.Now(), func(email string) (bool, error) {
		other, _, err := records.Users.Get(tx, tenant, email)
		if errors.Is(err, store.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		return n.eligible(tx, tenant, other, a)
	})
	return access.AsMember(principalOf(u), a.Groups, in.Groups) == nil, err
}

func principalOf(u *records.User) access.Principal {
	return access.Principal{ID: "user:" + u.Email, Tenant: u.TenantID, Roles: u.Roles, Projects: u.ProjectIDs, Email: u.Email, Person: u.Email}
}

// eligible reports whether a user has the role and the project, and is prevented from deciding
// neither by the four-eyes rule (the user requested the approval) nor by an earlier decision
// (given by or on behalf of the same person).
func (n *Notifier) eligible(tx store.Tx, tenant string, u *records.User, a *records.Approval) (bool, error) {
	p := principalOf(u)
	if u.Invited || !slices.Contains(u.Roles, countersign.RoleApprover) || !p.Covers(a.ProjectID) {
		return false, nil
	}
	asked, err := records.Behind(tx, tenant, a.Requester)
	if err == nil && asked.Stranger {
		p.SignedInBy, err = records.SignedInBy(tx, u.Email)
	}
	if err != nil || n.cfg.Eyes.MayJudge(p, asked) != nil {
		return false, err
	}
	return !slices.ContainsFunc(a.Deciders, func(other records.Decider) bool {
		return access.SameDecider(p.Requester(), other.Requester) || slices.Contains(other.OnBehalfOf, u.Email) || n.cfg.Eyes.MayJoin(p.Requester(), other.Requester) != nil
	}), nil
}
