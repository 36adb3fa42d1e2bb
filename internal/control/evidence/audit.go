// Package evidence holds the use cases of what proves and measures: audit logs, receipts, figures.
package evidence

import (
	"cmp"
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/platform/semaphore"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/store"
)

// AuditService is the use cases of audit logs.
type AuditService struct {
	*core.Core
	auditReads *semaphore.Semaphore // one read of a span of an audit log at a time
	verifier   audit.Verifier
}

// NewAudits returns the use cases.
func NewAudits(c *core.Core) *AuditService {
	return &AuditService{Core: c, auditReads: semaphore.New(1)}
}

// Audit lists a tenant's audit records, newest first. Only a realm administrator reads
// the realm's log.
func (s *AuditService) Audit(ctx context.Context, a core.Actor, l core.List, f audit.Filter, realm bool) (page countersign.Page[countersign.AuditRecord], err error) {
	log, err := logOf(a, realm)
	if err != nil {
		return page, err
	}
	err = s.View(ctx, a, access.ReadAudit, func(tx store.Tx) error {
		page, err = audit.List(tx, log, f, l.Limit, l.Offset)
		return err
	})
	return page, err
}

// AuditChoices are the actors and the actions of a log, for whoever chooses what to read.
func (s *AuditService) AuditChoices(ctx context.Context, a core.Actor, realm bool) (actors, actions []string, err error) {
	log, err := logOf(a, realm)
	if err != nil {
		return nil, nil, err
	}
	err = s.View(ctx, a, access.ReadAudit, func(tx store.Tx) error {
		if actors, err = tx.Distinct(store.Audit, log, "actor"); err != nil {
			return err
		}
		actions, err = tx.Distinct(store.Audit, log, "action")
		return err
	})
	return actors, actions, err
}

// VerifyAudit computes a log's tree from its records. Records that it has read within
// the last minute are not read again.
func (s *AuditService) VerifyAudit(ctx context.Context, a core.Actor, realm bool) (v countersign.AuditVerification, err error) {
	log, err := logOf(a, realm)
	if err != nil {
		return v, err
	}
	v, err = s.verifier.Verify(ctx, log, s.Config.Now, func(ctx context.Context, read func(tx store.Tx) error) error {
		return s.readSpan(ctx, a, read)
	})
	if err == nil {
		v.Cosigned, err = s.newest(ctx, a, log)
	}
	return v, core.Public(err)
}

// readSpan reads a part of a log when it is the tenant's turn. All verifications and
// exports together read one part at a time: however many are requested, they hold one
// reader of the store and don't delay other tenants.
func (s *AuditService) readSpan(ctx context.Context, a core.Actor, read func(tx store.Tx) error) (err error) {
	busy := s.auditReads.Do(ctx, a.Tenant, func() { err = s.View(ctx, a, access.ReadAudit, read) })
	return cmp.Or(core.Public(busy), err)
}

// ExportAudit calls each with every record of a log that the filter selects, as stored and
// in order, and returns the head they belong to. Records that are appended after it has
// begun are left out. after leaves out those up to a sequence number, nil none: so a
// collector goes on where it stopped.
func (s *AuditService) ExportAudit(ctx context.Context, a core.Actor, f audit.Filter, after *int64, realm bool, each func(doc []byte) error) (end countersign.AuditExport, err error) {
	log, err := logOf(a, realm)
	if err != nil {
		return end, err
	}
	end = countersign.AuditExport{TenantID: log, At: s.Config.Now(), Filtered: f.Any() || after != nil, After: after}
	err = s.readSpan(ctx, a, func(tx store.Tx) error {
		if end.Size, end.Head, err = audit.Head(tx, log); err == nil {
			end.Cosigned, err = s.newestIn(tx, log)
		}
		return err
	})
	span := audit.Span{Filter: f, Before: end.Size}
	if err == nil && after != nil {
		if span.From = *after + 1; span.From > end.Size {
			err = countersign.RefusedAt(countersign.CodeStateConflict, "after", "the log has %d records, so its last is %d, not %d; it is another log than the one that was read, or was cut off", end.Size, end.Size-1, *after)
		}
	}
	for done := false; err == nil && !done; {
		var docs [][]byte
		next := span
		err = s.readSpan(ctx, a, func(tx store.Tx) (err error) {
			next = span // the function may run more than once
			docs, done, err = next.Next(tx, log)
			return err
		})
		span = next
		for i := 0; err == nil && i < len(docs); i++ {
			err = each(docs[i])
			end.Records++
		}
	}
	return end, err
}

func logOf(a core.Actor, realm bool) (string, error) {
	if !realm {
		return a.Tenant, nil
	}
	return store.Realm, access.RealmToo(a.Principal)
}

// AuditRecord reads one record of a log by its sequence number.
func (s *AuditService) AuditRecord(ctx context.Context, a core.Actor, seq int64, realm bool) (r countersign.AuditRecord, err error) {
	log, err := logOf(a, realm)
	if err != nil {
		return r, err
	}
	err = s.View(ctx, a, access.ReadAudit, func(tx store.Tx) error {
		r, err = audit.Get(tx, log, seq)
		if errors.Is(err, store.ErrNotFound) {
			return countersign.Errorf(countersign.CodeNotFound, "there is no record %d in this log", seq)
		}
		return err
	})
	return r, err
}
