package client

import (
	"context"
	"iter"
	"net/url"
	"time"

	"github.com/countersign/countersign"
)

// AuditFilter selects the records to list.
type AuditFilter struct {
	Paging
	Subject string    // kind/id
	Actor   string    // user:…, token:… or system
	Action  string    // such as runs.start
	Since   time.Time // the earliest time
	Realm   bool      // the realm's log; realm administrators only
	After   *int64    // exports only: records after this sequence number
}

// AuditRecords lists the tenant's log, the newest first (ADMIN).
func (c *Client) AuditRecords(ctx context.Context, f AuditFilter) (*countersign.Page[countersign.AuditRecord], error) {
	return list[countersign.AuditRecord](ctx, c, "/audit", f.query())
}

func (f AuditFilter) query() url.Values {
	q := f.Paging.query()
	set(q, "subject", f.Subject)
	set(q, "actor", f.Actor)
	set(q, "action", f.Action)
	if !f.Since.IsZero() {
		q.Set("since", f.Since.UTC().Format(time.RFC3339Nano))
	}
	realm(q, f.Realm)
	return q
}

// AllAuditRecords walks all pages of [Client.AuditRecords].
func (c *Client) AllAuditRecords(ctx context.Context, f AuditFilter) iter.Seq2[countersign.AuditRecord, error] {
	return walk(f.Paging, func(p Paging) (*countersign.Page[countersign.AuditRecord], error) {
		f.Paging = p
		return c.AuditRecords(ctx, f)
	})
}

// VerifyAudit has the service recompute its log from the records (ADMIN). Compare Head with one
// that you kept elsewhere: a log that was truncated together with its head verifies as a
// shorter log.
func (c *Client) VerifyAudit(ctx context.Context, ofRealm bool) (*countersign.AuditVerification, error) {
	q := url.Values{}
	realm(q, ofRealm)
	return call[countersign.AuditVerification](ctx, c, Request{Method: "GET", Path: "/audit/verify", Query: q})
}

// AuditCheckpoint is the newest head of the log that witnesses have cosigned (ADMIN). Before the
// first it is not found.
func (c *Client) AuditCheckpoint(ctx context.Context, ofRealm bool) (*countersign.AuditCheckpoint, error) {
	q := url.Values{}
	realm(q, ofRealm)
	return call[countersign.AuditCheckpoint](ctx, c, Request{Method: "GET", Path: "/audit/checkpoint", Query: q})
}

func realm(q url.Values, yes bool) {
	if yes {
		q.Set("realm", "true")
	}
}
