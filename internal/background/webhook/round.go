package webhook

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// snapshot is the state of a webhook as read in one transaction.
type snapshot struct {
	hook    records.Webhook
	at      records.WebhookProgress
	version int64
	found   []int64 // sequence numbers, beyond the cursor, of the records to send
	to      int64   // how far the log was searched
	behind  bool    // the log has more records to search
}

// round finds new records, makes the attempts that are due and stores their results. more
// asks for another round at once.
func (s *Sender) round(ctx context.Context, r ref) (more bool, err error) {
	now, err := s.find(ctx, r)
	if err != nil || now == nil {
		return false, err
	}
	if len(now.found) == 0 && !now.hasDue(s) {
		return now.behind, nil
	}
	due, err := s.claim(ctx, r, now)
	if err != nil || len(due) == 0 {
		return false, err
	}
	attempts, err := s.attempt(ctx, r, now.hook, due)
	if err != nil {
		return false, err
	}
	if ctx.Err() != nil { // canceled attempts are no failures; they are made again
		attempts = slices.DeleteFunc(attempts, func(a attempt) bool { return a.problem != "" })
	}
	return true, s.settle(context.WithoutCancel(ctx), r, now.hook.URL, attempts)
}

func (n *snapshot) hasDue(s *Sender) bool {
	for _, p := range n.at.Pending {
		if !p.NextAt.After(s.cfg.Now()) {
			return true
		}
	}
	return s.isStuck(&n.at)
}

// find reads the webhook and, if it may have more pending notifications, searches the log
// beyond its cursor. It returns nil if there is nothing to do.
func (s *Sender) find(ctx context.Context, r ref) (out *snapshot, err error) {
	var size int64
	err = s.store.View(ctx, func(tx store.Tx) (err error) {
		if out, err = load(tx, r); err != nil || out == nil {
			return err
		}
		if size, err = audit.Size(tx, r.tenant); err != nil {
			return err
		}
		out.to = s.from(r, out.at.Cursor)
		return s.search(tx, r, out, size)
	})
	if err == nil && out != nil {
		out.behind = out.to < size && len(out.at.Pending)+len(out.found) < maxPending
		s.remember(r, looked{out.at.Cursor, out.to})
	}
	return out, err
}

func (s *Sender) search(tx store.Tx, r ref, out *snapshot, size int64) error {
	room := maxPending - len(out.at.Pending)
	last := min(size, out.to+window)
	if room <= 0 || out.to >= last {
		return nil
	}
	list, err := audit.FollowingReadable(tx, r.tenant, actionsOf(out.hook.Events), out.to, last, room, func(seq int64, err error) error {
		return s.pass(r.tenant, seq, err)
	})
	if err != nil {
		return err
	}
	for _, rec := range list {
		h, err := s.tell(tx, r.tenant, rec)
		if errors.Is(err, store.ErrNotFound) {
			continue // what the record is about was removed
		}
		if err := s.pass(r.tenant, rec.Seq, err); err != nil {
			return err
		}
		if err != nil || h.isFor(&out.hook) { // each attempt looks again whether what it is about can be read
			out.found = append(out.found, rec.Seq)
		}
	}
	out.to = last
	if len(list) == room {
		out.to = list[room-1].Seq + 1
	}
	return nil
}

// pass goes on behind an audit record that can't be read, or whose subject can't.
func (s *Sender) pass(tenant string, seq int64, err error) error {
	return s.cfg.Unreadable.Pass(unreadable.Record{Tenant: tenant, Kind: "audit record", ID: strconv.FormatInt(seq, 10)}, err)
}

// load reads a webhook; it returns nil if there is none or it is disabled.
func load(tx store.Tx, r ref) (*snapshot, error) {
	w, _, err := records.Webhooks.Get(tx, store.Realm, records.WebhookID(r.tenant, r.id))
	if errors.Is(err, store.ErrNotFound) || err == nil && !w.Enabled {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p, version, err := records.WebhookProgresses.Get(tx, store.Realm, records.WebhookProgressID(r.tenant, r.id))
	if err != nil {
		return nil, err
	}
	return &snapshot{hook: *w, at: *p, version: version}, nil
}

func (s *Sender) from(r ref, cursor int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l, ok := s.looked[r]; ok && l.stored == cursor {
		return max(l.to, cursor)
	}
	return cursor
}

func (s *Sender) remember(r ref, l looked) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked[r] = l
}

// claim stores the found records and counts the attempts whose time has come, in one commit
// before they are made. If another process changed the progress since find, it claims nothing.
func (s *Sender) claim(ctx context.Context, r ref, seen *snapshot) (due []int64, err error) {
	err = s.store.Update(ctx, func(tx store.Tx) error {
		due = nil
		now, err := load(tx, r)
		if err != nil || now == nil || now.version != seen.version {
			return err
		}
		next := now.at
		for _, seq := range seen.found {
			next.Pending = append(next.Pending, records.PendingWebhook{Seq: seq, NextAt: s.cfg.Now()})
		}
		next.Cursor = seen.to
		if s.isStuck(&next) {
			s.hasten(&next, 1)
		}
		for i := range next.Pending {
			if p := &next.Pending[i]; len(due) < atOnce && !p.NextAt.After(s.cfg.Now()) {
				if p.Then.IsZero() {
					p.Attempts++
				}
				p.NextAt = s.until()
				due = append(due, p.Seq)
			}
		}
		return putProgress(tx, r, &next, now.version)
	})
	return due, err
}

func putProgress(tx store.Tx, r ref, p *records.WebhookProgress, version int64) error {
	_, err := records.WebhookProgresses.Put(tx, store.Realm, records.WebhookProgressID(r.tenant, r.id), p, version)
	return err
}

// record is the audit record of a webhook that was disabled because its receiver is gone.
func (s *Sender) record(id, before, reason string) countersign.AuditRecord {
	return countersign.AuditRecord{
		At: s.cfg.Now(), Actor: countersign.SystemPrincipal, Action: "webhooks.disable", Subject: "webhook/" + id,
		Outcome: countersign.AuditDone, Before: before, After: "disabled", Reason: reason,
	}
}
