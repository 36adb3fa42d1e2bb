package chat

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// job is an approval whose message may have to be sent or replaced.
type job struct{ tenant, approval string }

// duty is a job, and what it takes.
type duty struct {
	job
	posts string // the channel that gets a new message; "" if one is replaced
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
		c.failed(ctx, "messages about approvals not looked for", err)
		return
	}
	posted, sent := map[string]bool{}, 0
	for _, d := range due {
		if ctx.Err() != nil || sent == atOnce || c.cfg.Now().Before(c.pause) {
			return
		}
		if d.posts != "" && posted[d.posts] {
			continue // services take about one new message a second in a channel
		}
		posted[d.posts] = true
		did, err := c.tell(ctx, d.job)
		if err != nil {
			c.failed(ctx, "a message about an approval was not sent", err)
		}
		if did {
			sent++
		}
	}
}

// due lists the approvals whose message is not known to say what it should: first those that
// have a message, then those that need one. It reads the short records of runs that wait.
func (c *Chat) due(ctx context.Context) (out []duty, err error) {
	err = c.store.View(ctx, func(tx store.Tx) error {
		out = nil
		waiting, order, err := c.waiting(tx)
		if err != nil {
			return err
		}
		kept, err := records.ChatMessages.List(tx, store.Realm, store.Query{Where: records.AllChatMessages(c.adapter.Name())})
		if err != nil {
			return err
		}
		for i := range kept {
			m, j := &kept[i], job{kept[i].TenantID, kept[i].ApprovalID}
			if said := m.Ref != "" && m.Told != "" && waiting[j] && !m.Changes; !said && c.mayTry(m) {
				d := duty{job: j}
				if m.Ref == "" {
					d.posts = m.Channel
				}
				out = append(out, d)
			}
			delete(waiting, j)
		}
		for _, j := range order {
			if waiting[j] {
				out = append(out, duty{j, c.cfg.Channels[j.tenant]})
			}
		}
		return nil
	})
	return out, err
}

// waiting lists the approvals that runs wait for, of the tenants that have a channel, the
// oldest first.
func (c *Chat) waiting(tx store.Tx) (set map[job]bool, order []job, err error) {
	set = map[job]bool{}
	for offset := 0; ; offset += batch {
		runs, err := records.UnfinishedRuns.List(tx, store.Realm, store.Query{
			Where: []store.Filter{store.Equal("state", records.Waiting)}, Order: []store.Order{{Column: "since"}}, Limit: batch, Offset: offset,
		})
		if err != nil {
			return nil, nil, err
		}
		for i := range runs {
			f := runs[i].WaitingFor
			if f == nil || f.Kind != countersign.WaitApproval || f.ApprovalID == "" || c.cfg.Channels[runs[i].TenantID] == "" {
				continue
			}
			j := job{runs[i].TenantID, f.ApprovalID}
			set[j], order = true, append(order, j)
		}
		if len(runs) < batch {
			return set, order, nil
		}
	}
}

// mayTry reports that nobody is sending the message, and that it may be tried now. The claim
// of another process ends with its time, or at once where no other process can be alive.
func (c *Chat) mayTry(m *records.ChatMessage) bool {
	now := c.cfg.Now()
	held := m.By != "" && m.By != c.process && c.cfg.Shared && now.Before(m.Until)
	return !held && !now.Before(m.Next)
}

// tell sends or replaces one approval's message, if it doesn't say what it should. did
// reports that the chat service was asked.
func (c *Chat) tell(ctx context.Context, j job) (did bool, err error) {
	m, err := c.message(ctx, j)
	if err != nil {
		return false, err
	}
	claim, err := c.claim(ctx, j, m)
	if err != nil || claim == nil {
		return false, err
	}
	m.Again = claim.Again
	sent := *claim
	if sent.Ref == "" {
		sent.Ref, err = c.adapter.Post(ctx, sent.Channel, m)
	} else {
		err = c.replaceAll(ctx, &sent, m)
	}
	return true, errors.Join(err, c.settle(context.WithoutCancel(ctx), j, m, claim, &sent, err))
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

// message is what the approval's message should say now.
func (c *Chat) message(ctx context.Context, j job) (Message, error) {
	a, err := c.control.Approval(ctx, reader(j.tenant), j.approval)
	if countersign.ErrorCode(err) == countersign.CodeNotFound { // its run is archived
		return Message{Ref: Ref{Tenant: j.tenant, Approval: j.approval}, Title: "An approval that ended", State: []string{"Nothing can be decided here any more."}, Link: c.link(j.approval)}, nil
	}
	if err != nil {
		return Message{}, err
	}
	return messageOf(j.tenant, &a, c.link(j.approval)), nil
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
		m.Again = rec.Again
		untold, said := rec.Ref == "" && !rec.Doubt, rec.Ref != "" && rec.Told == digestOf(m)
		switch {
		case !m.Open && version == 0, m.Open && said:
			return nil
		case !m.Open && (untold || said): // it ended, and nobody is to be told, or all are
			return records.ChatMessages.Delete(tx, store.Realm, id)
		}
		if rec.Ref == "" {
			rec.Again, rec.Doubt = rec.Again || rec.Doubt, true
		}
		changes, err := mayChange(tx, j)
		if err != nil {
			return err
		}
		rec.Changes, rec.By, rec.Until, rec.Told = changes, c.process, c.cfg.Now().Add(claimFor), ""
		if _, err := records.ChatMessages.Put(tx, store.Realm, id, rec, version); err != nil {
			return err
		}
		claim = rec
		return nil
	})
	return claim, err
}

// mayChange reports an approval that changes while it waits: others must approve too.
func mayChange(tx store.Tx, j job) (bool, error) {
	a, _, err := records.Approvals.Get(tx, j.tenant, j.approval)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil && (a.Needed() > 1 || len(a.Groups) > 1), err
}

// load reads the record of an approval's message, or makes the first one.
func (c *Chat) load(tx store.Tx, j job) (*records.ChatMessage, int64, error) {
	rec, version, err := records.ChatMessages.Get(tx, store.Realm, c.id(j))
	if errors.Is(err, store.ErrNotFound) {
		return &records.ChatMessage{TenantID: j.tenant, ApprovalID: j.approval, Channel: c.cfg.Channels[j.tenant]}, 0, nil
	}
	return rec, version, err
}

func (c *Chat) id(j job) string {
	return records.ChatMessageID(c.adapter.Name(), j.tenant, j.approval)
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
		rec.Told = digestOf(m)
	}
}

// digestOf is the digest of what a message says.
func digestOf(m Message) string {
	b, err := json.Marshal(m)
	if err != nil { // it has texts only
		panic(err)
	}
	return countersign.SHA256Hex(b)
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
		if _, _, err := records.Approvals.Get(tx, j.tenant, j.approval); err != nil {
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
