package notify

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// done says which kinds of mail about an approval were sent.
type done struct{ asked, escalated, expiring bool }

func (d done) has(k kind) bool {
	return k == asked && d.asked || k == escalated && d.escalated || k == expiring && d.expiring
}

func doneOf(rec *records.Notice) done { return done{rec.Asked, rec.Escalated, rec.Expiring} }

// notice is one kind of mail about one approval.
type notice struct {
	kind     kind
	tenant   string
	approval string
}

func (n notice) id() string { return records.NoticeID(n.tenant, n.approval) }

// due returns the notices that may have to be sent now, and a notice for each approval that
// a run waits for, sorted by expiry. It reads all waiting runs: their records in this list
// are small, and most approvals are decided within the hour.
func (n *Notifier) due(ctx context.Context) (out, waiting []notice, err error) {
	now := n.cfg.Now()
	var present map[string]time.Time // by notice id: when the approval expires
	err = n.store.View(ctx, func(tx store.Tx) error {
		out, waiting, present = nil, nil, map[string]time.Time{}
		return records.EachWaiting(tx, true, func(u *records.Unfinished) error {
			d := notice{kind: asked, tenant: u.TenantID, approval: u.WaitingFor.ApprovalID}
			present[d.id()] = u.Due
			waiting = append(waiting, d)
			out = n.addDue(out, d, u, now)
			return nil
		}, n.cfg.Unreadable.PassRun)
	})
	forget(n.seen, present) // the store keeps it for decided approvals
	forget(n.later, present)
	forget(n.pending, present)
	slices.SortStableFunc(waiting, func(a, b notice) int { return present[a.id()].Compare(present[b.id()]) })
	return out, waiting, err
}

// forget deletes the entries of approvals that no run waits for any more.
func forget[T any](of map[string]T, present map[string]time.Time) {
	maps.DeleteFunc(of, func(id string, _ T) bool {
		_, waits := present[id]
		return !waits
	})
}

// addDue adds the notice of a waiting approval that is to be sent now, if any. An approval
// that expires within 75 minutes of its request gets no reminder.
func (n *Notifier) addDue(out []notice, d notice, u *records.Unfinished, now time.Time) []notice {
	if now.Before(n.later[d.id()]) {
		return out
	}
	expiresSoon := !u.Due.IsZero() && u.Due.Sub(now) <= reminderAhead && u.Due.After(now)
	short := u.Due.Sub(u.Since) <= reminderAhead+reminderAhead/4
	switch {
	case expiresSoon && !short && !n.seen[d.id()].has(expiring):
		d.kind = expiring
		return append(out, d)
	case !u.WaitingFor.EscalatesAt.IsZero() && !now.Before(u.WaitingFor.EscalatesAt) && !n.seen[d.id()].has(escalated):
		d.kind = escalated
		return append(out, d)
	case !n.seen[d.id()].has(asked):
		return append(out, d)
	}
	return out
}
