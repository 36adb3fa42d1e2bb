package notify

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// recordSent records who was mailed about each claimed notice, and that the notice is done or
// when it is tried again.
func (n *Notifier) recordSent(ctx context.Context, claims []claimed, sent map[string]time.Time) error {
	var states map[notice]noticeState
	err := n.store.Update(ctx, func(tx store.Tx) error {
		states = map[notice]noticeState{}
		for _, c := range claims {
			s, err := n.recordNotice(tx, c, sent)
			if err != nil {
				return err
			}
			states[c.notice] = s
		}
		return nil
	})
	for d, s := range states {
		if err == nil {
			n.seen[d.id()], n.later[d.id()] = s.done, s.next
		}
	}
	return err
}

func (n *Notifier) recordNotice(tx store.Tx, c claimed, sent map[string]time.Time) (noticeState, error) {
	rec, version, err := noticeOf(tx, c.notice)
	if err != nil {
		return noticeState{}, err
	}
	if doneOf(rec).has(c.kind) { // another process took the claim over and finished it
		return noticeState{doneOf(rec), rec.Next}, nil
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
		rec.Next = n.cfg.Now().Add(min(firstWait<<min(max(rec.Tries-1, 0), 8), longestWait))
	case !c.later.IsZero():
		rec.Next, rec.Tries = c.later, 0
	default:
		finish(rec, c.kind)
	}
	_, err = records.Notices.Put(tx, store.Realm, c.id(), rec, version)
	return noticeState{doneOf(rec), rec.Next}, err
}

// recordMailed records when each letter of a round was sent. The minute until the next mail to
// that address starts at this time, not when the notice was claimed.
func (n *Notifier) recordMailed(ctx context.Context, r *round, sent map[string]time.Time) error {
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

// mailedOf is when an address was mailed. One that can't be read is written anew: it only
// spaces mails.
func mailedOf(tx store.Tx, email string) (*records.Mailed, int64, error) {
	rec, version, err := records.Mails.Get(tx, store.Realm, records.MailedID(email))
	if unreadable.Is(err) {
		return &records.Mailed{}, version, nil
	}
	return rec, version, err
}

// finish records that a kind of notice was sent to all its recipients.
func finish(rec *records.Notice, k kind) {
	rec.Asked, rec.Escalated, rec.Expiring = rec.Asked || k == asked, rec.Escalated || k == escalated, rec.Expiring || k == expiring
	rec.Told, rec.Tries, rec.Next = nil, 0, time.Time{}
}

// noticeOf is what was mailed about an approval. One that can't be read is written anew: its
// mails may be sent twice.
func noticeOf(tx store.Tx, d notice) (*records.Notice, int64, error) {
	rec, version, err := records.Notices.Get(tx, store.Realm, d.id())
	if unreadable.Is(err) {
		return &records.Notice{}, version, nil
	}
	return rec, version, err
}

func ignoreGone(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
