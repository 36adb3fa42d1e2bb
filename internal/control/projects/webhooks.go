package projects

import (
	"context"
	"errors"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/project"
	"github.com/countersign/countersign/internal/rules/quota"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/runtime/credowner"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// WebhookService is the use cases of webhooks.
type WebhookService struct {
	*core.Core
	credentials *CredentialService
}

// NewWebhooks returns the use cases.
func NewWebhooks(c *core.Core, credentials *CredentialService) *WebhookService {
	return &WebhookService{Core: c, credentials: credentials}
}

// Webhooks lists the tenant's webhooks by id, with the state of their deliveries.
func (s *WebhookService) Webhooks(ctx context.Context, a core.Actor, l core.List) (page countersign.Page[countersign.Webhook], err error) {
	err = s.View(ctx, a, access.ReadWebhooks, func(tx store.Tx) error {
		show := func(rec *records.Webhook) (countersign.Webhook, error) { return s.shownWebhook(tx, rec) }
		page, err = core.ShowPage(s.Core, tx, store.Realm, records.Webhooks, l, l.Query(nil, records.WebhooksOf(a.Tenant)...), show)
		return err
	})
	return page, err
}

// Webhook reads one webhook.
func (s *WebhookService) Webhook(ctx context.Context, a core.Actor, id string) (w countersign.Webhook, err error) {
	err = s.View(ctx, a, access.ReadWebhooks, func(tx store.Tx) error {
		rec, _, err := records.Webhooks.Get(tx, store.Realm, records.WebhookID(a.Tenant, id))
		if err != nil {
			return core.Found(err, "webhook", id)
		}
		w, err = s.shownWebhook(tx, rec)
		return err
	})
	return w, err
}

func (s *WebhookService) shownWebhook(tx store.Tx, rec *records.Webhook) (countersign.Webhook, error) {
	w := rec.Webhook
	p, _, err := records.WebhookProgresses.Get(tx, store.Realm, records.WebhookProgressID(rec.TenantID, rec.ID))
	if err != nil {
		return w, err
	}
	w.Pending, w.Dropped = len(p.Pending), p.Dropped
	w.LastSuccessAt, w.LastErrorAt, w.LastError = p.LastSuccessAt, p.LastErrorAt, p.LastError
	w.SecretIsMissing = !s.Config.Allowed.SecretIsSet(w.SecretEnv)
	return w, nil
}

// PutWebhook creates a webhook or, with the present revision, updates it. A new one gets
// events from now on.
func (s *WebhookService) PutWebhook(ctx context.Context, a core.Actor, id string, w countersign.WebhookWrite) (out countersign.Webhook, err error) {
	if err := core.WellFormed(a, w); err != nil {
		return out, err
	}
	if err := s.checkWebhook(a.Tenant, w); err != nil {
		return out, err
	}
	err = s.Update(ctx, a, access.WriteWebhook, "webhook/"+id, func(tx store.Tx) error {
		old, version, err := records.Webhooks.Get(tx, store.Realm, records.WebhookID(a.Tenant, id))
		if errors.Is(err, store.ErrNotFound) {
			old, version, err = &records.Webhook{TenantID: a.Tenant}, 0, s.checkWebhookLimit(tx, a.Tenant)
		}
		if err != nil {
			return err
		}
		if err := core.Compare("webhook", id, old.Revision, w.ExpectedRevision); err != nil {
			return err
		}
		if err := s.credentials.claim(tx, a, credowner.OfWebhook(a.Tenant, w.URL, w.SecretEnv), "secretEnv", "webhook/"+id); err != nil {
			return err
		}
		next := s.nextWebhook(*old, id, w)
		if _, err := records.Webhooks.Put(tx, store.Realm, records.WebhookID(a.Tenant, id), &next, version); err != nil {
			return err
		}
		c := core.Change{Before: webhookState(old), After: webhookState(&next), Reason: "to " + originOf(next.URL)}
		if err := s.Audit(tx, a, access.WriteWebhook, "webhook/"+id, c); err != nil {
			return err
		}
		if err := s.startWebhook(tx, old, &next); err != nil {
			return err
		}
		out, err = s.shownWebhook(tx, &next)
		return err
	})
	return out, err
}

// checkWebhook checks a webhook against the server's settings.
func (s *WebhookService) checkWebhook(tenant string, w countersign.WebhookWrite) error {
	origin, _, err := request.SplitAddress(w.URL)
	if err != nil {
		return countersign.Invalid("url", "it %v", err)
	}
	if err := core.OwnProjectIDs(tenant, w.ProjectIDs); err != nil {
		return err
	}
	if !slices.Contains(s.Config.Allowed.NotifyOrigins, origin) {
		return countersign.RefusedAt(countersign.CodeOriginNotAllowed, "url", "%s is not on the server's list SVC_PLATFORM_NOTIFY_ORIGINS", origin)
	}
	u := credowner.OfWebhook(tenant, w.URL, w.SecretEnv)
	if _, err := s.Config.Allowed.Credentials.Judge(u); err != nil {
		return project.NotAllowed("secretEnv", u, err)
	}
	return nil
}

func (s *WebhookService) checkWebhookLimit(tx store.Tx, tenant string) error {
	count, err := tx.Count(store.Meta, store.Realm, store.Query{Where: records.WebhooksOf(tenant)})
	if err != nil {
		return err
	}
	if most := s.Config.Quotas.Webhooks; count >= most {
		return quota.Exceeded("tenant "+tenant, most, "webhooks", "delete one")
	}
	return nil
}

func (s *WebhookService) nextWebhook(w records.Webhook, id string, from countersign.WebhookWrite) records.Webhook {
	w.UpdatedAt = s.Config.Now()
	if w.Revision == 0 {
		w.CreatedAt = w.UpdatedAt
	}
	w.Revision++
	countersign.CopyContent(&w.Webhook, from)
	w.ID = id
	w.Events = slices.Compact(slices.Sorted(slices.Values(from.Events)))
	w.Enabled = from.Enabled == nil || *from.Enabled
	return w
}

// startWebhook starts a webhook at the log's present end if it is new, enabled again, or has
// other events or projects than before. Pending deliveries become due at once, since
// an edit has probably fixed something.
func (s *WebhookService) startWebhook(tx store.Tx, old, next *records.Webhook) error {
	id := records.WebhookProgressID(next.TenantID, next.ID)
	p, version, err := records.WebhookProgresses.Get(tx, store.Realm, id)
	if errors.Is(err, store.ErrNotFound) {
		p, version, err = &records.WebhookProgress{}, 0, nil
	}
	if err != nil {
		return err
	}
	if !old.Enabled || !slices.Equal(old.Events, next.Events) || !slices.Equal(old.ProjectIDs, next.ProjectIDs) {
		if p.Cursor, err = audit.Size(tx, next.TenantID); err != nil {
			return err
		}
	}
	if !next.Enabled {
		p.Pending = nil
	}
	for i := range p.Pending {
		p.Pending[i].NextAt = s.Config.Now()
	}
	_, err = records.WebhookProgresses.Put(tx, store.Realm, id, p, version)
	return err
}

// originOf is the part of an address that the audit log keeps; the rest may hold a secret.
func originOf(address string) string {
	origin, _, _ := request.SplitAddress(address)
	return origin
}

// webhookState describes a webhook in the audit log.
func webhookState(w *records.Webhook) string {
	if w.Revision == 0 {
		return ""
	}
	return core.Revision(w.Revision) + " " + enabledText(w.Enabled)
}

// DeleteWebhook deletes a webhook with its pending deliveries.
func (s *WebhookService) DeleteWebhook(ctx context.Context, a core.Actor, id string) (w countersign.Webhook, err error) {
	err = s.Update(ctx, a, access.DeleteWebhook, "webhook/"+id, func(tx store.Tx) error {
		rec, _, err := records.Webhooks.Get(tx, store.Realm, records.WebhookID(a.Tenant, id))
		if err != nil {
			return core.Found(err, "webhook", id)
		}
		if w, err = s.shownWebhook(tx, rec); err != nil {
			return err
		}
		if err := records.Webhooks.Delete(tx, store.Realm, records.WebhookID(a.Tenant, id)); err != nil {
			return err
		}
		if err := records.WebhookProgresses.Delete(tx, store.Realm, records.WebhookProgressID(a.Tenant, id)); err != nil {
			return err
		}
		return s.Audit(tx, a, access.DeleteWebhook, "webhook/"+id, core.Change{Before: webhookState(rec)})
	})
	return w, err
}
