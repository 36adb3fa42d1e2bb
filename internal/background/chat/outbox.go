package chat

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// job is an approval, or a change that weakens, whose message may have to be sent or replaced.
type job struct{ tenant, approval, change string }

// about is the id of the approval or of the change.
func (j job) about() string { return j.approval + j.change }

// jobOf is what a message is about.
func jobOf(m *records.ChatMessage) job { return job{m.TenantID, m.ApprovalID, m.ChangeID} }

// ref names what a message is about, by what it says of it.
func (j job) ref(digest string) Ref { return Ref{j.tenant, j.approval, j.change, digest} }

// duty is a job, and what it takes.
type duty struct {
	job
	posts  string // the channel that gets a new message; "" if one is replaced
	now    time.Time
	people people // of its tenant, no later than the message is made
}

// Look sends and replaces the messages that are due. What goes wrong is logged: the next
// look is soon.
func (c *Chat) Look(ctx context.Context) {
	if c.cfg.Now().Before(c.pause) {
		return
	}
	began := time.Now()
	due, err := c.due(ctx)
	c.reading = time.Since(began)
	if err != nil {
		c.failed(ctx, "messages not looked for", err)
		return
	}
	posted, sent, made := map[string]bool{}, 0, 0
	for _, d := range due {
		if ctx.Err() != nil || sent == atOnce || made == mostMade || c.cfg.Now().Before(c.pause) {
			return
		}
		if d.posts != "" && posted[d.posts] {
			continue // services take about one new message a second in a channel
		}
		posted[d.posts] = true
		made++
		did, err := c.tell(ctx, d)
		if unreadable.Is(err) { // the others of its channel don't wait for it
			c.later[d.job] = c.cfg.Now().Add(longest)
		}
		if err := c.cfg.Unreadable.Pass(recordOf(d.job), err); err != nil {
			c.failed(ctx, "a message was not sent", err)
		}
		if did {
			sent++
		}
	}
}

// due lists the approvals and changes whose message is not known to say what it should: first those that
// have a message, then those that need one. It reads the short records of runs that wait, and
// approvals only where several must decide.
func (c *Chat) due(ctx context.Context) (out []duty, err error) {
	var present map[job]bool
	err = c.store.View(ctx, func(tx store.Tx) error {
		out, present = nil, map[job]bool{}
		l := look{c, tx, c.cfg.Now(), map[string]people{}}
		for tenant := range c.cfg.Channels {
			if l.people[tenant], err = c.peopleOf(tx, tenant); err != nil {
				return err
			}
		}
		waiting, order, err := c.waiting(tx)
		if err != nil {
			return err
		}
		kept, err := unreadable.List(c.cfg.Unreadable, tx, "chat message", records.ChatMessages, store.Realm, store.Query{Where: records.AllChatMessages(c.adapter.Name())})
		if err != nil {
			return err
		}
		for i := range kept {
			m, j := &kept[i], jobOf(&kept[i])
			said, err := l.said(m, waiting[j])
			if err := c.cfg.Unreadable.Pass(recordOf(j), err); err != nil {
				return err
			}
			if err == nil && !said && c.mayTry(m) {
				d := l.duty(j, "")
				if m.Ref == "" {
					d.posts = m.Channel
				}
				out = append(out, d)
			}
			present[j] = true
			delete(waiting, j)
		}
		for _, j := range order {
			if waiting[j] && !c.cfg.Now().Before(c.later[j]) {
				out = append(out, l.duty(j, c.cfg.Channels[j.tenant]))
			}
		}
		return nil
	})
	if err == nil {
		maps.DeleteFunc(c.said, func(j job, _ basis) bool { return !present[j] })
		maps.DeleteFunc(c.later, func(_ job, at time.Time) bool { return !c.cfg.Now().Before(at) })
	}
	return out, err
}

func recordOf(j job) unreadable.Record {
	if j.change != "" {
		return unreadable.Record{Tenant: j.tenant, Kind: "change", ID: j.change}
	}
	return unreadable.Record{Tenant: j.tenant, Kind: "approval", ID: j.approval}
}

// look is one reading of the store.
type look struct {
	*Chat
	tx     store.Tx
	now    time.Time
	people map[string]people // by tenant
}

func (l look) duty(j job, posts string) duty { return duty{j, posts, l.now, l.people[j.tenant]} }

// said reports a message that says what it should.
func (l look) said(m *records.ChatMessage, waits bool) (bool, error) {
	if m.Ref == "" || m.Told == "" || !waits {
		return false, nil
	}
	return l.Chat.said[jobOf(m)].holds(l.tx, l.now, l.people[m.TenantID], m)
}

// waiting lists the approvals that runs wait for, of the tenants that have a channel, the
// oldest first, and then the changes that wait for a decision.
func (c *Chat) waiting(tx store.Tx) (set map[job]bool, order []job, err error) {
	set = map[job]bool{}
	err = records.EachWaiting(tx, false, func(u *records.Unfinished) error {
		if j := (job{tenant: u.TenantID, approval: u.WaitingFor.ApprovalID}); c.cfg.Channels[j.tenant] != "" {
			set[j], order = true, append(order, j)
		}
		return nil
	}, c.cfg.Unreadable.PassRun)
	if err != nil {
		return nil, nil, err
	}
	changes, err := c.changesThatWait(tx)
	for _, j := range changes {
		set[j], order = true, append(order, j)
	}
	return set, order, err
}

// mayTry reports that nobody is sending the message, and that it may be tried now. The claim
// of another process ends with its time, or at once where no other process can be alive.
func (c *Chat) mayTry(m *records.ChatMessage) bool {
	now := c.cfg.Now()
	held := m.By != "" && m.By != c.process && c.cfg.Shared && now.Before(m.Until)
	return !held && !now.Before(m.Next) && !now.Before(c.later[jobOf(m)])
}

// tell sends or replaces one message, if it doesn't say what it should. did
// reports that the chat service was asked.
func (c *Chat) tell(ctx context.Context, d duty) (did bool, err error) {
	began := time.Now()
	m, b, err := c.message(ctx, d)
	c.reading += time.Since(began)
	if err != nil {
		return false, err
	}
	b.told = m.digest()
	claim, err := c.claim(ctx, d.job, m)
	if err == nil && claim != nil {
		m.Again, did = claim.Again, true
		sent := *claim
		if sent.Ref == "" {
			sent.Ref, err = c.adapter.Post(ctx, sent.Channel, m)
		} else {
			err = c.replaceAll(ctx, &sent, m)
		}
		err = errors.Join(err, c.settle(context.WithoutCancel(ctx), d.job, m, claim, &sent, err))
	}
	if err == nil {
		c.said[d.job] = b
	}
	return did, err
}

// replaceAll replaces all messages that are known about an approval. A message that somebody
// has deleted is forgotten.
func (c *Chat) replaceAll(ctx context.Context, sent *records.ChatMessage, m Message) error {
	also := sent.Also
	sent.Also = nil
	for i, ref := range also {
		switch err := c.adapter.Replace(ctx, sent.Channel, ref, m); {
		case errors.Is(err, ErrGone):
		case err != nil:
			sent.Also = append(sent.Also, also[i:]...)
			return err
		default:
			sent.Also = append(sent.Also, ref)
		}
	}
	err := c.adapter.Replace(ctx, sent.Channel, sent.Ref, m)
	if errors.Is(err, ErrGone) {
		sent.Ref = ""
		return nil
	}
	return err
}

// message is what the approval's message should say now, and from what.
func (c *Chat) message(ctx context.Context, d duty) (m Message, b basis, err error) {
	if d.change != "" {
		return c.changeMessage(ctx, d)
	}
	reader := reader(d.tenant)
	a, err := c.control.Approval(ctx, reader, d.approval)
	var who control.Deciders
	if err == nil {
		who, err = c.control.StillDeciding(ctx, reader, d.approval)
	}
	if countersign.ErrorCode(err) == countersign.CodeNotFound { // its run is archived
		return Message{Ref: d.ref(""), Title: "An approval that ended", State: []string{"Nothing can be decided here any more."}, Link: c.link(d.ref(""))}, b, nil
	}
	if err != nil {
		return m, b, err
	}
	return messageOf(d.ref(a.RequestDigest), &a, who, c.cfg.Now(), c.link(d.ref(""))), basisOf(d.now, d.people, &a), nil
}

// reader sees what a VIEWER of the tenant sees: nobody knows who reads a channel.
func reader(tenant string) control.Actor {
	p := access.System(tenant)
	p.Roles = []countersign.Role{countersign.RoleViewer}
	return control.Actor{Principal: p}
}

// claim records, before the chat service is asked, that this process sends a message; nil if
// there is nothing to send.
func (c *Chat) claim(ctx context.Context, j job, m Message) (claim *records.ChatMessage, err error) {
	err = c.store.Update(ctx, func(tx store.Tx) error {
		claim = nil
		rec, version, err := c.load(tx, j)
		if err != nil || !c.mayTry(rec) {
			return err
		}
		id := c.id(j)
		untold, said := rec.Ref == "" && !rec.Doubt, rec.Ref != "" && rec.Told == m.digest()
		switch {
		case !m.Open && version == 0, m.Open && said:
			return nil
		case !m.Open && (untold || said): // it ended, and nobody is to be told, or all are
			return records.ChatMessages.Delete(tx, store.Realm, id)
		}
		if rec.Ref == "" {
			rec.Again, rec.Doubt = rec.Again || rec.Doubt, true
		}
		rec.By, rec.Until, rec.Told = c.process, c.cfg.Now().Add(claimFor), ""
		if _, err := records.ChatMessages.Put(tx, store.Realm, id, rec, version); err != nil {
			return err
		}
		claim = rec
		return nil
	})
	return claim, err
}

// stands returns nil if there is what a message is about.
func (j job) stands(tx store.Tx) (err error) {
	if j.change != "" {
		_, _, err = records.Changes.Get(tx, j.tenant, records.ChangeID(j.change))
		return err
	}
	_, _, err = records.Approvals.Get(tx, j.tenant, j.approval)
	return err
}

// load reads the record of a message, or makes the first one.
func (c *Chat) load(tx store.Tx, j job) (*records.ChatMessage, int64, error) {
	rec, version, err := records.ChatMessages.Get(tx, store.Realm, c.id(j))
	if errors.Is(err, store.ErrNotFound) {
		return &records.ChatMessage{TenantID: j.tenant, ApprovalID: j.approval, ChangeID: j.change, Channel: c.cfg.Channels[j.tenant]}, 0, nil
	}
	return rec, version, err
}

func (c *Chat) id(j job) string {
	return records.ChatMessageID(c.adapter.Name(), j.tenant, j.about())
}

// settle records how the request to the chat service ended. A process whose claim another
// one has taken over changes nothing. What is told last is true: the record remembers what
// was said, and the next look compares it with what should be.
func (c *Chat) settle(ctx context.Context, j job, m Message, claim, sent *records.ChatMessage, failure error) error {
	var later LaterError
	if errors.As(failure, &later) {
		c.pause = c.cfg.Now().Add(min(max(later.After, time.Second), longest))
	}
	return c.store.Update(ctx, func(tx store.Tx) error {
		rec, version, err := c.load(tx, j)
		if err != nil || version == 0 || rec.By != c.process {
			return err
		}
		rec.By, rec.Until = "", time.Time{}
		rec.Also = slices.DeleteFunc(rec.Also, func(ref string) bool { // one that was added meanwhile stays
			return slices.Contains(claim.Also, ref) && !slices.Contains(sent.Also, ref)
		})
		if failure == nil {
			c.arrived(rec, claim, sent, m)
		} else {
			var refused RefusedError
			if claim.Ref == "" && (errors.As(failure, &refused) || errors.As(failure, &later)) {
				rec.Doubt = rec.Again // it surely didn't arrive, so nothing is in doubt that wasn't before
			}
			rec.Next = c.cfg.Now().Add(min(firstWait<<min(rec.Tries, 8), longest))
			rec.Tries++
		}
		if failure == nil && !m.Open && rec.Told != "" {
			return records.ChatMessages.Delete(tx, store.Realm, c.id(j))
		}
		_, err = records.ChatMessages.Put(tx, store.Realm, c.id(j), rec, version)
		return err
	})
}

// arrived records that the message says m.
func (c *Chat) arrived(rec, claim, sent *records.ChatMessage, m Message) {
	rec.Tries, rec.Next, rec.Doubt = 0, time.Time{}, false
	if rec.Ref == "" || rec.Ref == claim.Ref {
		rec.Ref = sent.Ref
	} else if sent.Ref != "" { // a person answered the other one while this was sent
		rec.Also = append(rec.Also, sent.Ref)
	}
	if len(rec.Also) == len(sent.Also) { // none was added that says something else
		rec.Told = m.digest()
	}
}

// saw records that a person answered a message that may not be the one that is known: its
// sending was interrupted, or it should have been replaced. It is told the truth, too.
func (c *Chat) saw(ctx context.Context, j job, channel, ref string) error {
	if ref == "" {
		return nil
	}
	return c.store.Update(ctx, func(tx store.Tx) error {
		rec, version, err := c.load(tx, j)
		if err != nil || channel != rec.Channel || rec.Ref == ref || slices.Contains(rec.Also, ref) || len(rec.Also) == maxAlso {
			return err
		}
		if err := j.stands(tx); err != nil {
			if errors.Is(err, store.ErrNotFound) {
				return nil
			}
			return err
		}
		if rec.Ref == "" && rec.By == "" {
			rec.Ref, rec.Doubt = ref, false
		} else {
			rec.Also = append(rec.Also, ref)
		}
		rec.Told, rec.Next = "", time.Time{}
		_, err = records.ChatMessages.Put(tx, store.Realm, c.id(j), rec, version)
		return err
	})
}
