package control

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/access"
	"github.com/countersign/countersign/internal/audit"
	"github.com/countersign/countersign/internal/store"
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

// VerifyAudit computes a log anew from its records.
func (s *Service) VerifyAudit(ctx context.Context, a Actor, realm bool) (v countersign.AuditVerification, err error) {
	log, err := logOf(a, realm)
	if err != nil {
		return v, err
	}
	err = s.view(ctx, a, access.ReadAudit, func(tx store.Tx) error {
		v, err = audit.Verify(tx, log)
		return err
	})
	return v, err
}

func logOf(a Actor, realm bool) (string, error) {
	if !realm {
		return a.Tenant, nil
	}
	return store.Realm, access.Allow(a.Principal, access.ReadTenants)
}
