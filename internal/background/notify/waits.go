package notify

import (
	"context"
	"errors"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// complete adds to each letter the other approvals that wait for its recipient in the tenants
// of the letter, and keeps those that expire first. waiting has all waiting approvals, sorted
// by expiry. It doesn't change who is mailed, so a read transaction is enough and writers
// don't wait for it.
func (n *Notifier) complete(ctx context.Context, r *round, waiting []notice) error {
	var lists map[string]*letter
	err := n.store.View(ctx, func(tx store.Tx) error {
		lists = map[string]*letter{}
		readers, users, away := map[string][]reader{}, map[string][]records.User{}, map[string][]countersign.Delegation{}
		for to, l := range r.letters {
			lists[to] = &letter{to: to, items: slices.Clone(l.items)}
			for _, tenant := range l.tenants() {
				if err := errors.Join(n.usersOf(tx, tenant, users), n.awayIn(tx, tenant, away)); err != nil {
					return err
				}
				if at := slices.IndexFunc(users[tenant], func(u records.User) bool { return u.Email == to }); at >= 0 {
					readers[tenant] = append(readers[tenant], reader{&users[tenant][at], lists[to]})
				}
			}
		}
		for _, d := range waiting {
			if err := n.pass(d, n.list(tx, d, readers[d.tenant], away[d.tenant])); err != nil {
				return err
			}
		}
		for _, l := range lists {
			l.cut()
			for i := range l.items {
				var err error
				if l.items[i].name, err = n.nameOf(tx, l.items[i].tenant, l.items[i].a.RequestedBy); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil {
		r.letters = lists
	}
	return err
}

// reader is a user of one tenant, and the letter to their address.
type reader struct {
	user   *records.User
	letter *letter
}

// list adds a waiting approval to the letters of the users who may decide it.
func (n *Notifier) list(tx store.Tx, d notice, readers []reader, away []countersign.Delegation) error {
	if len(readers) == 0 {
		return nil
	}
	a, err := n.pendingApproval(tx, d)
	if err != nil || a.Status != countersign.ApprovalPending {
		return ignoreGone(err)
	}
	for _, r := range readers {
		may, err := n.mayDecide(tx, d.tenant, r.user, a, away)
		if err != nil {
			return err
		}
		if may {
			r.letter.add(item{kind: asked, tenant: d.tenant, a: a})
		}
	}
	return nil
}

// pendingApproval reads an approval without its payload, from memory if possible. Only a pending
// approval that needs one decision and names at most one group is kept in memory: the
// retained fields of any other one may change while it waits.
func (n *Notifier) pendingApproval(tx store.Tx, d notice) (*records.Approval, error) {
	if a := n.pending[d.id()]; a != nil {
		return a, nil
	}
	a, _, err := records.Approvals.Get(tx, d.tenant, d.approval)
	if err != nil {
		return nil, err
	}
	if a = withoutPayload(a); a.Status == countersign.ApprovalPending && a.Needed() == 1 && len(a.Groups) <= 1 {
		n.pending[d.id()] = a
	}
	return a, nil
}

// withoutPayload is a copy of an approval without the request to be sent, which may be a mebibyte.
func withoutPayload(a *records.Approval) *records.Approval {
	return &records.Approval{Requester: a.Requester, Deciders: a.Deciders, Approval: countersign.Approval{
		ApprovalsNeeded: a.ApprovalsNeeded, Groups: a.Groups, Escalations: a.Escalations,
		ID: a.ID, Status: a.Status, ProjectID: a.ProjectID, Capability: a.Capability, RequestedBy: a.RequestedBy, ExpiresAt: a.ExpiresAt,
		OnBehalfOf: a.OnBehalfOf, BehindUnknown: a.BehindUnknown,
	}}
}
