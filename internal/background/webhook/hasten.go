package webhook

import (
	"time"

	"github.com/countersign/countersign/internal/storage/records"
)

// After hours without an answer the next attempts are hours away. A receiver that is back should
// not be told so late, and newer notifications should not wait behind those. So as soon as it
// takes one, the others are sent before their time; and where as many wait as may be pending,
// one is sent to find out. Such attempts don't count, so that a receiver which refuses one
// notification and takes the others doesn't lose it early.

// hastenEvery bounds how often that is done for a webhook.
const hastenEvery = 5 * time.Minute

// hastenAll makes all notifications due, now that the receiver has taken one.
func (s *Sender) hastenAll(p *records.WebhookProgress) {
	if now := s.cfg.Now(); now.Sub(p.HastenedAt) >= hastenEvery && s.hasten(p, len(p.Pending)) {
		p.HastenedAt = now
	}
}

// hasten makes notifications due that wait for their next attempt, at most so many.
func (s *Sender) hasten(p *records.WebhookProgress, most int) (some bool) {
	for i := range p.Pending {
		if w := &p.Pending[i]; most > 0 && s.waits(w) {
			w.Then, w.NextAt = w.NextAt, s.cfg.Now()
			most, some = most-1, true
		}
	}
	return some
}

// waits reports whether a notification is not due for long: an attempt that is under way, in
// this process or another, ends before.
func (s *Sender) waits(w *records.PendingWebhook) bool {
	return w.Then.IsZero() && w.NextAt.After(s.until())
}

// isStuck reports whether no newer notifications are taken from the log, none is due for long,
// and the last attempt was long ago.
func (s *Sender) isStuck(p *records.WebhookProgress) bool {
	if len(p.Pending) < maxPending || s.cfg.Now().Sub(p.LastErrorAt) < hastenEvery {
		return false
	}
	for i := range p.Pending {
		if !s.waits(&p.Pending[i]) {
			return false
		}
	}
	return true
}
