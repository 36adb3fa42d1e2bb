package notify

import (
	"context"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// claimed is a notice whose mails this process sends now.
type claimed struct {
	notice
	to    []string  // addresses
	later time.Time // when the notice is due again: for addresses mailed within the last minute, or for the next escalation; zero if neither
}

// round has the letters that one look sends, by address.
type round struct {
	letters map[string]*letter
	claims  []claimed
	began   time.Time
}

// noticeState says which mails of a notice were sent and when to try next.
type noticeState struct {
	done done
	next time.Time
}

// claim selects the people to notify now and records that this process is sending, so that
// no other process sends the same mails. People who were mailed within the last minute are
// notified when that minute is over.
func (n *Notifier) claim(ctx context.Context, batch []notice, r *round) error {
	var c *claiming
	err := n.store.Update(ctx, func(tx store.Tx) error {
		c = &claiming{Notifier: n, tx: tx, round: r, letters: map[string]*letter{}, states: map[notice]noticeState{}, users: map[string][]records.User{}, away: map[string][]countersign.Delegation{}, mailed: map[string]time.Time{}}
		for _, d := range batch {
			if err := n.pass(d, c.claimOne(d)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for d, s := range c.states {
		n.seen[d.id()], n.later[d.id()] = s.done, s.next
	}
	for to, l := range c.letters {
		r.letters[to] = l
	}
	r.claims = append(r.claims, c.claims...)
	return nil
}

// claiming is the state of one claim transaction. It is made anew when the store runs the
// transaction again, and copied to the Notifier and the round after the commit.
type claiming struct {
	*Notifier
	tx      store.Tx
	round   *round
	letters map[string]*letter // those not yet in the round, by address
	claims  []claimed
	states  map[notice]noticeState
	users   map[string][]records.User           // by tenant
	away    map[string][]countersign.Delegation // by tenant
	mailed  map[string]time.Time                // by address that was mailed within the last minute: when it may be mailed again
}

// claimOne claims one notice if somebody is to be mailed about it now.
func (c *claiming) claimOne(d notice) error {
	now := c.cfg.Now()
	rec, version, err := noticeOf(c.tx, d)
	if err != nil {
		return err
	}
	c.states[d] = noticeState{doneOf(rec), rec.Next}
	a, _, err := records.Approvals.Get(c.tx, d.tenant, d.approval)
	if err != nil || c.states[d].done.has(d.kind) || now.Before(rec.Next) || a.Status != countersign.ApprovalPending {
		return ignoreGone(err)
	}
	supersede(rec, d.kind)
	people, err := c.people(d.tenant, a, rec.Told)
	if err != nil {
		return err
	}
	i, err := c.item(d.kind, d.tenant, a)
	if err != nil {
		return err
	}
	claim := claimed{notice: d, later: nextEscalation(a, d.kind, now)}
	for _, email := range people {
		if err := c.address(&claim, email, i); err != nil {
			return err
		}
	}
	switch {
	case len(people) == 0 && !claim.later.IsZero():
		rec.Next = claim.later
	case len(people) == 0:
		finish(rec, d.kind)
	case len(claim.to) == 0: // no mail is sent now, so nothing is recorded
		c.states[d] = noticeState{c.states[d].done, claim.later}
		return nil
	default:
		rec.Next = now.Add(claimFor)
		rec.Tries++
		c.claims = append(c.claims, claim)
	}
	rec.ExpiresAt = a.ExpiresAt
	c.states[d] = noticeState{doneOf(rec), rec.Next}
	_, err = records.Notices.Put(c.tx, store.Realm, d.id(), rec, version)
	return err
}

// supersede records the earlier kinds as sent: the mail of a later kind says all that they
// would say.
func supersede(rec *records.Notice, k kind) {
	if k == asked || rec.Asked && (rec.Escalated || k == escalated) {
		return
	}
	rec.Told, rec.Tries, rec.Asked = nil, 0, true
	rec.Escalated = rec.Escalated || k == expiring
}

// nextEscalation is when an approval that has escalated escalates again, zero if it doesn't.
func nextEscalation(a *records.Approval, k kind, now time.Time) (at time.Time) {
	for _, e := range a.Escalations {
		if k == escalated && e.At.After(now) && (at.IsZero() || e.At.Before(at)) {
			at = e.At
		}
	}
	return at
}

func (c *claiming) item(k kind, tenant string, a *records.Approval) (item, error) {
	name, err := c.nameOf(c.tx, tenant, a.RequestedBy)
	return item{k, tenant, withoutPayload(a), name}, err
}
