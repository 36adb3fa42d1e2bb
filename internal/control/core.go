package control

import (
	"cmp"
	"context"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/store"
)

// Authorize decides whether the actor may use the operation at all, before anything of the
// request is read. It records refusals of writes. subject is what the request is about, as
// kind/id.
func (s *Service) Authorize(ctx context.Context, a Actor, op access.Operation, subject string) error {
	err := access.Allow(a.Principal, op)
	if id, of := strings.CutPrefix(subject, "agent/"); err == nil && of {
		err = access.ActsFor(a.Principal, id)
	}
	if err != nil && op == access.SendHeartbeat {
		s.cfg.Metrics.Heartbeat(a.Tenant, "refused") // nothing else keeps it (contract 9)
	}
	return s.Refuse(ctx, a, op, subject, err)
}

// view runs fn on one snapshot, if the actor may use the operation. No tenant has all of the
// store's readers: what takes long for one leaves one to the others. The first transaction of
// a use case is a view or an update, which ask access.Allow; later ones are a read or a
// write, which don't.
func (s *Service) view(ctx context.Context, a Actor, op access.Operation, fn func(tx store.Tx) error) error {
	if err := access.Allow(a.Principal, op); err != nil {
		return err
	}
	var err error
	busy := s.views.Do(ctx, a.Tenant, func() { err = s.read(ctx, fn) })
	return cmp.Or(publicRead(busy), err)
}

// read runs fn on one snapshot. It ends with the caller, at the next thing that fn reads. The
// caller has asked access.Allow.
func (s *Service) read(ctx context.Context, fn func(tx store.Tx) error) error {
	return publicRead(s.store.View(ctx, func(tx store.Tx) error { return fn(store.Ending(ctx, tx)) }))
}

// update runs fn in a write transaction, if the actor may use the operation.
func (s *Service) update(ctx context.Context, a Actor, op access.Operation, subject string, fn func(tx store.Tx) error) error {
	if err := access.Allow(a.Principal, op); err != nil {
		return s.Refuse(ctx, a, op, subject, err)
	}
	return s.write(ctx, a, op, subject, fn)
}

// write runs fn in a write transaction of the actor, and records a refusal with 403 or 409. The caller
// has asked access.Allow.
func (s *Service) write(ctx context.Context, a Actor, op access.Operation, subject string, fn func(tx store.Tx) error) error {
	err := s.updateAs(ctx, a, fn)
	crashpoint.At("control.committed", op)
	return s.Refuse(ctx, a, op, subject, public(err))
}

func (s *Service) record(a Actor, op access.Operation, subject string) countersign.AuditRecord {
	return countersign.AuditRecord{
		At: s.cfg.Now(), Actor: a.ID, Action: string(op), Subject: subject,
		Outcome: countersign.AuditDone, RequestID: a.RequestID, Via: a.Via, ActorMakers: a.Requester().LinkMakers(),
	}
}

// change is one audited change; before and after are revisions or states.
type change struct {
	before, after, reason string
	weakens               bool // the change weakens a gate
}

func (s *Service) audit(tx store.Tx, a Actor, op access.Operation, subject string, c change) error {
	return s.auditIn(tx, a.Tenant, a, op, subject, c)
}

func (s *Service) auditIn(tx store.Tx, tenant string, a Actor, op access.Operation, subject string, c change) error {
	rec := s.record(a, op, subject)
	rec.Before, rec.After, rec.Reason, rec.Weakens = c.before, c.after, c.reason, c.weakens
	crashpoint.At("control.written", op)
	return appendAudit(tx, tenant, rec)
}

func appendAudit(tx store.Tx, tenant string, rec countersign.AuditRecord) error {
	return audit.Append(tx, tenant, []countersign.AuditRecord{rec})
}
