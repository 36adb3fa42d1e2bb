package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/access"
	"github.com/countersign/countersign/internal/records"
	"github.com/countersign/countersign/internal/store"
)

// mail is one mail that is to be sent.
type mail struct{ to, subject, text string }

// claim marks a notice as begun and makes its mails, in one commit and before the
// first is sent: a crash may lose a mail and never sends one twice.
func (n *Notifier) claim(ctx context.Context, d notice) (mails []mail, err error) {
	var now done
	err = n.store.Update(ctx, func(tx store.Tx) error {
		mails = nil
		rec, version, err := records.Notices.Get(tx, store.Realm, d.id())
		if errors.Is(err, store.ErrNotFound) {
			rec, version, err = &records.Notice{}, 0, nil
		}
		if err != nil {
			return err
		}
		now = done{rec.Asked, rec.Lapsing}
		a, _, err := records.Approvals.Get(tx, d.tenant, d.approval)
		if err != nil || now.has(d.kind) || a.Status != countersign.ApprovalPending {
			return ignoreGone(err)
		}
		rec.ExpiresAt = a.ExpiresAt
		rec.Asked, rec.Lapsing = rec.Asked || d.kind == asked, rec.Lapsing || d.kind == lapsing
		now = done{rec.Asked, rec.Lapsing}
		if _, err := records.Notices.Put(tx, store.Realm, d.id(), rec, version); err != nil {
			return err
		}
		mails, err = n.mails(tx, d, a)
		return err
	})
	if err == nil {
		n.seen[d.id()] = now
	}
	return mails, err
}

func ignoreGone(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// mails go to the tenant's users who may decide this approval: with the role, with
// its project in their scope, and not for what they asked for themselves.
func (n *Notifier) mails(tx store.Tx, d notice, a *records.Approval) ([]mail, error) {
	users, err := records.Users.List(tx, d.tenant, store.Query{})
	if err != nil {
		return nil, err
	}
	var out []mail
	for _, u := range users {
		if n.mayDecide(&u, a) && len(out) < mostMails {
			subject, text := n.words(d, a)
			out = append(out, mail{u.Email, subject, text})
		}
	}
	return out, nil
}

func (n *Notifier) mayDecide(u *records.User, a *records.Approval) bool {
	p := access.Principal{ID: "user:" + u.Email, Tenant: u.TenantID, Roles: u.Roles, Projects: u.ProjectIDs, Email: u.Email}
	switch {
	case !slices.Contains(u.Roles, countersign.RoleApprover), !p.Covers(a.ProjectID):
		return false
	case n.cfg.AllowSelfApproval:
		return true
	}
	return access.FourEyes(p, a.Requester) == nil
}

// words tell who asks for what and until when, and nothing of what would be sent:
// mail is read by many machines. Following the link decides nothing.
func (n *Notifier) words(d notice, a *records.Approval) (subject, text string) {
	what := a.Capability + " at " + a.ProjectID
	lapses := a.ExpiresAt.UTC().Format("2 Jan 2006, 15:04 UTC")
	begin := "A run waits for your decision."
	subject = "Decide: " + what
	if d.kind == lapsing {
		subject = "Lapses soon: " + what
		begin = "A run still waits for a decision. Undecided, the system rejects it in less than an hour."
	}
	return subject, fmt.Sprintf("%s\n\nWhat:      %s\nTenant:    %s\nAsked by:  %s\nLapses:    %s\n\nSee what would be sent, and decide:\n%s/console/approvals/%s\n\nThis mail decides nothing, nor does following the link. Whoever decides first, decides.\n",
		begin, what, d.tenant, strings.Replace(a.RequestedBy, ":", " ", 1), lapses, n.cfg.BaseURL, a.ID)
}
