package notify

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/access"
	"github.com/countersign/countersign/internal/records"
	"github.com/countersign/countersign/internal/store"
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
		c = &claiming{Notifier: n, tx: tx, round: r, letters: map[string]*letter{}, stand: map[notice]standing{}, users: map[string][]records.User{}, mailed: map[string]time.Time{}}
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
	mailed  map[string]time.Time      // by address
}

// one claims a notice, if something is to be sent now.
func (c *claiming) one(d notice) error {
	now := c.cfg.Now()
	rec, version, err := noticeOf(c.tx, d)
	if err != nil {
		return err
	}
	c.stand[d] = standing{done{rec.Asked, rec.Lapsing}, rec.Next}
	a, _, err := records.Approvals.Get(c.tx, d.tenant, d.approval)
	if err != nil || c.stand[d].done.has(d.kind) || now.Before(rec.Next) || a.Status != countersign.ApprovalPending {
		return ignoreGone(err)
	}
	if d.kind == lapsing && !rec.Asked { // it tells all that the first one would have
		rec.Asked, rec.Told, rec.Tries = true, nil, 0
	}
	people, err := c.people(d.tenant, a, rec.Told)
	if err != nil {
		return err
	}
	i, err := c.item(d.kind, d.tenant, a)
	if err != nil {
		return err
	}
	claim := claimed{notice: d}
	for _, email := range people {
		if err := c.address(&claim, email, i); err != nil {
			return err
		}
	}
	switch {
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
	c.stand[d] = standing{done{rec.Asked, rec.Lapsing}, rec.Next}
	_, err = records.Notices.Put(c.tx, store.Realm, d.id(), rec, version)
	return err
}

func (c *claiming) item(k kind, tenant string, a *records.Approval) (item, error) {
	name, err := records.NameOf(c.tx, tenant, a.RequestedBy)
	return item{k, tenant, briefly(a), name}, err
}

// address puts something into somebody's letter, unless there was one within a minute.
func (c *claiming) address(claim *claimed, email string, i item) error {
	l := c.letters[email]
	if l == nil {
		l = c.round.letters[email]
	}
	if l == nil {
		next, err := c.open(email)
		if err != nil {
			return err
		}
		if !next.IsZero() {
			if claim.later.IsZero() || next.Before(claim.later) {
				claim.later = next
			}
			return nil
		}
		l = &letter{to: email}
		c.letters[email] = l
	}
	l.add(i)
	claim.to = append(claim.to, email)
	return nil
}

// open notes that somebody is being mailed now, or gives the time from which that may
// be: a minute after the last mail was sent, wherever.
func (c *claiming) open(email string) (time.Time, error) {
	if next, known := c.mailed[email]; known {
		return next, nil
	}
	rec, version, err := mailedOf(c.tx, email)
	if err != nil {
		return time.Time{}, err
	}
	now := c.cfg.Now()
	if next := mayMail(rec, now); now.Before(next) {
		c.mailed[email] = next
		return next, nil
	}
	_, err = records.Mails.Put(c.tx, store.Realm, records.MailedID(email), &records.Mailed{At: now, Until: now.Add(sending)}, version)
	return time.Time{}, err
}

// mayMail is when an address may be mailed again. While another process is at it, that
// is looked up anew before long: it may end soon. A clock set back holds nobody up.
func mayMail(rec *records.Mailed, now time.Time) time.Time {
	switch {
	case now.Before(rec.At):
		return now
	case now.Before(rec.Until):
		return earlier(rec.Until, now.Add(mailEvery))
	}
	return rec.At.Add(mailEvery)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

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

// keep notes who has been told of notices, and that they are done or when they are
// tried again.
func (n *Notifier) keep(ctx context.Context, claims []claimed, sent map[string]time.Time) error {
	var stand map[notice]standing
	err := n.store.Update(ctx, func(tx store.Tx) error {
		stand = map[notice]standing{}
		for _, c := range claims {
			s, err := n.keepOne(tx, c, sent)
			if err != nil {
				return err
			}
			stand[c.notice] = s
		}
		return nil
	})
	for d, s := range stand {
		if err == nil {
			n.seen[d.id()], n.later[d.id()] = s.done, s.next
		}
	}
	return err
}

func (n *Notifier) keepOne(tx store.Tx, c claimed, sent map[string]time.Time) (standing, error) {
	rec, version, err := noticeOf(tx, c.notice)
	if err != nil {
		return standing{}, err
	}
	failed := false
	for _, email := range c.to {
		if _, was := sent[email]; was {
			rec.Told = append(rec.Told, email)
		} else {
			failed = true
		}
	}
	switch {
	case failed:
		rec.Next = n.cfg.Now().Add(min(firstWait<<min(rec.Tries-1, 8), longest))
	case !c.later.IsZero():
		rec.Next, rec.Tries = c.later, 0
	default:
		finish(rec, c.kind)
	}
	_, err = records.Notices.Put(tx, store.Realm, c.id(), rec, version)
	return standing{done{rec.Asked, rec.Lapsing}, rec.Next}, err
}

// keepMailed notes when each letter of a round was sent: from then a minute counts.
func (n *Notifier) keepMailed(ctx context.Context, r *round, sent map[string]time.Time) error {
	for addresses := range slices.Chunk(slices.Sorted(maps.Keys(r.letters)), claimsAtOnce) {
		err := n.store.Update(ctx, func(tx store.Tx) error {
			for _, email := range addresses {
				rec, version, err := mailedOf(tx, email)
				if err != nil {
					return err
				}
				rec.Until = time.Time{}
				if at, was := sent[email]; was {
					rec.At = at
				}
				if _, err := records.Mails.Put(tx, store.Realm, records.MailedID(email), rec, version); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func mailedOf(tx store.Tx, email string) (*records.Mailed, int64, error) {
	rec, version, err := records.Mails.Get(tx, store.Realm, records.MailedID(email))
	if errors.Is(err, store.ErrNotFound) {
		return &records.Mailed{}, 0, nil
	}
	return rec, version, err
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
