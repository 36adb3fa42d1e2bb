package control

import (
	"cmp"
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/store"
)

// Audit lists a tenant's audit records, newest first. The realm's log is the
// realm administrator's.
func (s *Service) Audit(ctx context.Context, a Actor, l List, f audit.Filter, realm bool) (page countersign.Page[countersign.AuditRecord], err error) {
	log, err := logOf(a, realm)
	if err != nil {
		return page, err
	}
	err = s.view(ctx, a, access.ReadAudit, func(tx store.Tx) error {
		page, err = audit.List(tx, log, f, l.Limit, l.Offset)
		return err
	})
	return page, err
}

// VerifyAudit computes a log anew from its records, but for those that it has read
// within a minute.
func (s *Service) VerifyAudit(ctx context.Context, a Actor, realm bool) (v countersign.AuditVerification, err error) {
	log, err := logOf(a, realm)
	if err != nil {
		return v, err
	}
	v, err = s.verifier.Verify(ctx, log, s.cfg.Now, func(ctx context.Context, read func(tx store.Tx) error) error {
		return s.readSpan(ctx, a, read)
	})
	return v, public(err)
}

// readSpan reads a part of a log when it is the tenant's turn: one part at a time of
// all that are verified and exported, so that whoever asks for however many of them
// holds one reader of the store, and no other tenant up.
func (s *Service) readSpan(ctx context.Context, a Actor, read func(tx store.Tx) error) (err error) {
	busy := s.auditReads.Do(ctx, a.Tenant, func() { err = s.view(ctx, a, access.ReadAudit, read) })
	return cmp.Or(public(busy), err)
}

// ExportAudit gives each record of a log that the filter keeps, as it is stored, in
// order, and says at the end what they are of. The log is that of the moment when it
// begins: what is appended meanwhile is left out.
func (s *Service) ExportAudit(ctx context.Context, a Actor, f audit.Filter, realm bool, each func(doc []byte) error) (end countersign.AuditExport, err error) {
	log, err := logOf(a, realm)
	if err != nil {
		return end, err
	}
	end = countersign.AuditExport{TenantID: log, At: s.cfg.Now(), Filtered: f.Any()}
	err = s.readSpan(ctx, a, func(tx store.Tx) error {
		end.Size, end.Head, err = audit.Head(tx, log)
		return err
	})
	span := audit.Span{Filter: f, Before: end.Size}
	for done := false; err == nil && !done; {
		var docs [][]byte
		err = s.readSpan(ctx, a, func(tx store.Tx) error {
			next := span // perhaps more than once
			if docs, done, err = next.Next(tx, log); err == nil {
				span = next
			}
			return err
		})
		for i := 0; err == nil && i < len(docs); i++ {
			err = each(docs[i])
			end.Records++
		}
	}
	return end, err
}

func logOf(a Actor, realm bool) (string, error) {
	if !realm {
		return a.Tenant, nil
	}
	return store.Realm, access.Allow(a.Principal, access.ReadTenants)
}
