package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/access"
	"github.com/countersign/countersign/internal/plain"
	"github.com/countersign/countersign/internal/records"
	"github.com/countersign/countersign/internal/store"
)

// mail is one mail that is to be sent.
type mail struct{ to, subject, text string }

// claim makes the mails of a notice that are still to be sent, and keeps others from
// beginning them meanwhile; none when nothing is to be sent now.
func (n *Notifier) claim(ctx context.Context, d notice) (mails []mail, err error) {
	var now done
	var next time.Time
	err = n.store.Update(ctx, func(tx store.Tx) error {
		mails = nil
		rec, version, err := noticeOf(tx, d)
		if err != nil {
			return err
		}
		now, next = done{rec.Asked, rec.Lapsing}, rec.Next
		a, _, err := records.Approvals.Get(tx, d.tenant, d.approval)
		if err != nil || now.has(d.kind) || n.cfg.Now().Before(next) || a.Status != countersign.ApprovalPending {
			return ignoreGone(err)
		}
		if d.kind == lapsing && !rec.Asked { // it tells all that the first one would have
			rec.Asked, rec.Told, rec.Tries = true, nil, 0
		}
		if mails, err = n.mails(tx, d, a, rec.Told); err != nil {
			return err
		}
		rec.ExpiresAt, rec.Next = a.ExpiresAt, n.cfg.Now().Add(sending)
		rec.Tries++
		if len(mails) == 0 {
			finish(rec, d.kind)
		}
		now, next = done{rec.Asked, rec.Lapsing}, rec.Next
		_, err = records.Notices.Put(tx, store.Realm, d.id(), rec, version)
		return err
	})
	n.remember(d, now, next, err)
	return mails, err
}

// keep notes who has been told of a notice, and that it is done or when it is tried
// again.
func (n *Notifier) keep(ctx context.Context, d notice, told []string, all bool) error {
	var now done
	var next time.Time
	err := n.store.Update(ctx, func(tx store.Tx) error {
		rec, version, err := noticeOf(tx, d)
		if err != nil {
			return err
		}
		rec.Told = append(rec.Told, told...)
		rec.Next = n.cfg.Now().Add(min(firstWait<<min(rec.Tries-1, 8), longest))
		if all {
			finish(rec, d.kind)
		}
		now, next = done{rec.Asked, rec.Lapsing}, rec.Next
		_, err = records.Notices.Put(tx, store.Realm, d.id(), rec, version)
		return err
	})
	n.remember(d, now, next, err)
	return err
}

func (n *Notifier) remember(d notice, now done, next time.Time, err error) {
	if err == nil {
		n.seen[d.id()], n.later[d.id()] = now, next
	}
}

// finish marks a kind as sent to everybody.
func finish(rec *records.Notice, k kind) {
	rec.Asked, rec.Lapsing = rec.Asked || k == asked, rec.Lapsing || k == lapsing
	rec.Told, rec.Tries, rec.Next = nil, 0, time.Time{}
}

func noticeOf(tx store.Tx, d notice) (*records.Notice, int64, error) {
	rec, version, err := records.Notices.Get(tx, store.Realm, d.id())
	if errors.Is(err, store.ErrNotFound) {
		return &records.Notice{}, 0, nil
	}
	return rec, version, err
}

func ignoreGone(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// mails go to the tenant's users who may decide this approval: with the role, with
// its project in their scope, and not for what they asked for themselves. Those who
// have been told get none.
func (n *Notifier) mails(tx store.Tx, d notice, a *records.Approval, told []string) ([]mail, error) {
	users, err := records.Users.List(tx, d.tenant, store.Query{})
	if err != nil {
		return nil, err
	}
	asked, err := records.NameOf(tx, d.tenant, a.RequestedBy)
	if err != nil {
		return nil, err
	}
	var out []mail
	for _, u := range users {
		if n.mayDecide(&u, a) && !slices.Contains(told, u.Email) && len(told)+len(out) < mostMails {
			subject, text := n.words(d, a, asked)
			out = append(out, mail{u.Email, subject, text})
		}
	}
	return out, nil
}

func (n *Notifier) mayDecide(u *records.User, a *records.Approval) bool {
	p := access.Principal{ID: "user:" + u.Email, Tenant: u.TenantID, Roles: u.Roles, Projects: u.ProjectIDs, Email: u.Email, Person: u.Email}
	return !u.Invited && slices.Contains(u.Roles, countersign.RoleApprover) && p.Covers(a.ProjectID) && n.cfg.Eyes.MayJudge(p, a.Requester) == nil
}

// words tell who asks for what and until when, and nothing of what would be sent:
// mail is read by many machines. Following the link decides nothing.
func (n *Notifier) words(d notice, a *records.Approval, asked string) (subject, text string) {
	what := plain.Value(a.Capability) + " at " + a.ProjectID
	lapses := a.ExpiresAt.UTC().Format("2 Jan 2006, 15:04 UTC")
	begin := "A run waits for your decision."
	subject = "Decide: " + what
	if d.kind == lapsing {
		subject = "Lapses soon: " + what
		begin = "A run still waits for a decision. Undecided, the system rejects it in less than an hour."
	}
	return subject, fmt.Sprintf("%s\n\nWhat:      %s\nTenant:    %s\nAsked by:  %s\nLapses:    %s\n\nSee what would be sent, and decide:\n%s/console/approvals/%s\n\nThis mail decides nothing, nor does following the link. Whoever decides first, decides.\n",
		begin, what, d.tenant, by(a.RequestedBy, asked), lapses, n.cfg.BaseURL, a.ID)
}

// by is a principal with its name, which may be anything: so it stands in quotes behind
// what the principal is.
func by(principal, name string) string {
	who := plain.Value(strings.Replace(principal, ":", " ", 1))
	if name == "" || principal == "user:"+name {
		return who
	}
	return who + " “" + plain.Value(name) + "”"
}
