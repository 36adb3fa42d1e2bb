package webhook

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/runtime/credowner"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// attempt is one attempt to send a notification, and its result.
type attempt struct {
	seq     int64
	notice  request.Notice
	status  int
	problem string // "" if the receiver took it
}

// attempt sends the claimed notifications concurrently.
func (s *Sender) attempt(ctx context.Context, r ref, w records.Webhook, due []int64) ([]attempt, error) {
	out, err := s.notices(ctx, r, w, due)
	if err != nil {
		return nil, err
	}
	var all sync.WaitGroup
	for i := range out {
		if a := &out[i]; a.notice.Body != nil {
			all.Go(func() { a.status, a.problem = s.caller.Notify(ctx, a.notice) })
		}
	}
	all.Wait()
	return out, nil
}

// notices builds the notifications from stored records, so that a pending one is stored as
// a few bytes. One without a body has nothing to report any more.
func (s *Sender) notices(ctx context.Context, r ref, w records.Webhook, due []int64) (out []attempt, err error) {
	err = s.store.View(ctx, func(tx store.Tx) error {
		out = nil
		boundTo, err := credowner.BoundTo(tx, w.SecretEnv)
		if err != nil {
			return err
		}
		for _, seq := range due {
			a := attempt{seq: seq}
			rec, err := audit.Get(tx, r.tenant, seq)
			var h happened
			if err == nil {
				h, err = s.tell(tx, r.tenant, rec)
			}
			if err == nil && h.isFor(&w) {
				a.notice = request.Notice{Tenant: r.tenant, URL: w.URL, SecretEnv: w.SecretEnv, BoundTo: boundTo, ID: h.id}
				a.notice.Body, err = countersign.Marshal(h.Notification)
			}
			if errors.Is(err, store.ErrDamaged) {
				a.problem = "not sent: what it is about can't be read"
			}
			if err := s.pass(r.tenant, seq, err); err != nil {
				return err
			}
			out = append(out, a)
		}
		return nil
	})
	return out, err
}

// settle stores the results of attempts. If the webhook was changed or deleted meanwhile, it
// keeps the present state: it adds no notification again, and a 410 from the old address
// doesn't disable the webhook.
func (s *Sender) settle(ctx context.Context, r ref, address string, made []attempt) error {
	if len(made) == 0 {
		return nil
	}
	return s.store.Update(ctx, func(tx store.Tx) error {
		now, err := load(tx, r)
		if err != nil || now == nil {
			return err
		}
		next, gone := now.at, false
		next.Pending = slices.Clone(next.Pending)
		for _, a := range made {
			s.judge(&next, a)
			gone = gone || a.status == http.StatusGone && now.hook.URL == address
		}
		if gone {
			next.Pending = nil
			if err := s.disable(tx, r, now.hook); err != nil {
				return err
			}
		}
		return putProgress(tx, r, &next, now.version)
	})
}

// judge applies the result of one attempt: a delivered notification is removed and the others
// are hastened, a failed one is scheduled again, or dropped after its last attempt.
func (s *Sender) judge(p *records.WebhookProgress, a attempt) {
	i := slices.IndexFunc(p.Pending, func(p records.PendingWebhook) bool { return p.Seq == a.seq })
	if i < 0 {
		return
	}
	if a.problem == "" {
		p.Pending = slices.Delete(p.Pending, i, i+1)
		if a.notice.Body != nil {
			p.LastSuccessAt = s.cfg.Now()
			s.hastenAll(p)
		}
		return
	}
	p.LastError, p.LastErrorAt = a.problem, s.cfg.Now()
	if w := &p.Pending[i]; !w.Then.IsZero() {
		w.NextAt, w.Then = w.Then, time.Time{}
		return
	}
	if n := p.Pending[i].Attempts; n <= len(s.cfg.Backoff) {
		p.Pending[i].NextAt = s.cfg.Now().Add(s.cfg.Backoff[n-1])
		return
	}
	p.Pending, p.Dropped = slices.Delete(p.Pending, i, i+1), p.Dropped+1
}

// disable disables a webhook whose receiver answered that it is gone for good.
func (s *Sender) disable(tx store.Tx, r ref, w records.Webhook) error {
	_, version, err := records.Webhooks.Get(tx, store.Realm, records.WebhookID(r.tenant, r.id))
	if err != nil {
		return err
	}
	w.Enabled, w.Revision, w.UpdatedAt = false, w.Revision+1, s.cfg.Now()
	if _, err := records.Webhooks.Put(tx, store.Realm, records.WebhookID(r.tenant, r.id), &w, version); err != nil {
		return err
	}
	return audit.Append(tx, r.tenant, []countersign.AuditRecord{s.record(r.id, "enabled", "the receiver answered 410: it wants no more")})
}
