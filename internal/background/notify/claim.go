package notify

import (
	"context"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// claimed is a notice of which mails are to be sent now.
type claimed struct {
	notice
	to    []string  // whom
	later time.Time // when others are to be told who had a mail just now; zero for nobody
}

// round is what one look sends: one letter to each.
type round struct {
	letters map[string]*letter
	claims  []claimed
	began   time.Time
}

// standing is how far a notice is.
type standing struct {
	done done
	next time.Time // before when nothing is to be tried
}

// claim finds who is to be told of some notices now, and keeps others from beginning
// that meanwhile. Whoever had a mail within a minute is told when that is over.
func (n *Notifier) claim(ctx context.Context, batch []notice, r *round) error {
	var c *claiming
	err := n.store.Update(ctx, func(tx store.Tx) error {
		c = &claiming{Notifier: n, tx: tx, round: r, letters: map[string]*letter{}, stand: map[notice]standing{}, users: map[string][]records.User{}, away: map[string][]countersign.Delegation{}, mailed: map[string]time.Time{}}
		for _, d := range batch {
			if err := c.one(d); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for d, s := range c.stand {
		n.seen[d.id()], n.later[d.id()] = s.done, s.next
	}
	for to, l := range c.letters {
		r.letters[to] = l
	}
	r.claims = append(r.claims, c.claims...)
	return nil
}

// claiming is a claim in its transaction.
type claiming struct {
	*Notifier
	tx      store.Tx
	round   *round
	letters map[string]*letter // new ones
	claims  []claimed
	stand   map[notice]standing
	users   map[string][]records.User // by tenant
	away    map[string][]countersign.Delegation
	mailed  map[string]time.Time // by address
}

// one claims a notice, if something is to be sent now.
func (c *claiming) one(d notice) error {
	now := c.cfg.Now()
	rec, version, err := noticeOf(c.tx, d)
	if err != nil {
		return err
	}
	c.stand[d] = standing{doneOf(rec), rec.Next}
	a, _, err := records.Approvals.Get(c.tx, d.tenant, d.approval)
	if err != nil || c.stand[d].done.has(d.kind) || now.Before(rec.Next) || a.Status != countersign.ApprovalPending {
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
	claim := claimed{notice: d, later: further(a, d.kind, now)}
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
	case len(claim.to) == 0: // nothing is begun, so nothing is kept
		c.stand[d] = standing{c.stand[d].done, claim.later}
		return nil
	default:
		rec.Next = now.Add(sending)
		rec.Tries++
		c.claims = append(c.claims, claim)
	}
	rec.ExpiresAt = a.ExpiresAt
	c.stand[d] = standing{doneOf(rec), rec.Next}
	_, err = records.Notices.Put(c.tx, store.Realm, d.id(), rec, version)
	return err
}

// supersede ends the notices that a later one says all of.
func supersede(rec *records.Notice, k kind) {
	if k == asked || rec.Asked && (rec.Escalated || k == escalated) {
		return
	}
	rec.Told, rec.Tries, rec.Asked = nil, 0, true
	rec.Escalated = rec.Escalated || k == lapsing
}

// further is when an approval that has escalated does so again, zero for never.
func further(a *records.Approval, k kind, now time.Time) (at time.Time) {
	for _, e := range a.Escalations {
		if k == escalated && e.At.After(now) && (at.IsZero() || e.At.Before(at)) {
			at = e.At
		}
	}
	return at
}

func (c *claiming) item(k kind, tenant string, a *records.Approval) (item, error) {
	name, err := records.NameOf(c.tx, tenant, a.RequestedBy)
	return item{k, tenant, briefly(a), name}, err
}
