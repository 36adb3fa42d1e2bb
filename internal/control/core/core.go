// Package core is what each room of the use cases stands on: who acts and whether they still may, the
// store and its turns, lists, refusals, limits, and what the audit log says.
package core

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/platform/cache"
	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/platform/semaphore"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Core is what each room stands on: the store and its turns, who acts and whether they still may,
// and what the audit log says of it.
type Core struct {
	Config Config
	Store  store.Store
	Alone  store.Changing // the store, if only this process writes to it; else nil
	Repo   *runrepo.Repository
	Log    *slog.Logger

	// Propose keeps a change that weakens, where several decide it.
	Propose Proposing

	// Background is what goes on behind an answer. Close waits for it.
	Background sync.WaitGroup

	*Rights
	*refusalLog
	computations *semaphore.Semaphore // simulations, and other work that takes a processor
	costly       *semaphore.Semaphore // one change at a time that takes the writer for long
	views        *semaphore.Semaphore // the store's readers
}

// New returns what the rooms stand on.
func New(cfg Config, s store.Store, l *runrepo.Repository, log *slog.Logger) *Core {
	cfg.Quotas = cfg.Quotas.OrDefaults()
	if cfg.Life == nil {
		cfg.Life = context.Background()
	}
	c := &Core{
		Config: cfg, Store: s, Repo: l, Log: log,
		computations: semaphore.Shared(computedAtOnce), costly: semaphore.New(1), views: semaphore.Shared(cmp.Or(cfg.Readers, leastReaders)),
	}
	c.Alone, _ = s.(store.Changing)
	c.Rights = &Rights{Config: &c.Config, looked: cache.New[cache.Stamp, *records.Token](cachedLooks)}
	c.refusalLog = &refusalLog{Config: &c.Config, core: c}
	return c
}

// Close writes the refusals that were counted, and waits for background writes.
func (s *Core) Close() {
	s.recordAllRepeats()
	s.Background.Wait()
}

// Authorize decides whether the actor may use the operation at all, before anything of the
// request is read. It records refusals of writes. subject is what the request is about, as
// kind/id.
func (s *Core) Authorize(ctx context.Context, a Actor, op access.Operation, subject string) error {
	err := access.Allow(a.Principal, op)
	if id, of := strings.CutPrefix(subject, "agent/"); err == nil && of {
		err = access.ActsFor(a.Principal, id)
	}
	if err != nil && op == access.SendHeartbeat {
		s.Config.Metrics.Heartbeat(a.Tenant, "refused") // nothing else keeps it (contract 9)
	}
	return s.Refuse(ctx, a, op, subject, err)
}

// View runs fn on one snapshot, if the actor may use the operation. No tenant has all of the
// store's readers: what takes long for one leaves one to the others. The first transaction of
// a use case is a view or an update, which ask access.Allow; later ones are a read or a
// write, which don't.
func (s *Core) View(ctx context.Context, a Actor, op access.Operation, fn func(tx store.Tx) error) error {
	if err := access.Allow(a.Principal, op); err != nil {
		return err
	}
	var err error
	busy := s.views.Do(ctx, a.Tenant, func() { err = s.Read(ctx, fn) })
	return cmp.Or(PublicRead(busy), err)
}

// Read runs fn on one snapshot. It ends with the caller, at the next thing that fn reads. The
// caller has asked access.Allow.
func (s *Core) Read(ctx context.Context, fn func(tx store.Tx) error) error {
	return PublicRead(s.Store.View(ctx, func(tx store.Tx) error { return fn(store.Ending(ctx, tx)) }))
}

// Update runs fn in a write transaction, if the actor may use the operation.
func (s *Core) Update(ctx context.Context, a Actor, op access.Operation, subject string, fn func(tx store.Tx) error) error {
	if err := access.Allow(a.Principal, op); err != nil {
		return s.Refuse(ctx, a, op, subject, err)
	}
	return s.Write(ctx, a, op, subject, fn)
}

// Write runs fn in a write transaction of the actor, and records a refusal with 403 or 409. The caller
// has asked access.Allow.
func (s *Core) Write(ctx context.Context, a Actor, op access.Operation, subject string, fn func(tx store.Tx) error) error {
	err := s.UpdateAs(ctx, a, fn)
	crashpoint.At("control.committed", op)
	return s.Refuse(ctx, a, op, subject, Public(err))
}

// Record is the audit record of what the actor does, done.
func (s *Core) Record(a Actor, op access.Operation, subject string) countersign.AuditRecord {
	return countersign.AuditRecord{
		At: s.Config.Now(), Actor: a.ID, Action: string(op), Subject: subject,
		Outcome: countersign.AuditDone, RequestID: a.RequestID, Via: a.Via, ActorMakers: a.Requester().LinkMakers(),
		Identity: a.Identity, OnBehalfOf: a.OnBehalfOf,
	}
}

// Change is one audited change; before and after are revisions or states.
type Change struct {
	Before, After, Reason string
	Weakens               bool      // the change weakens a gate
	AnswerKeys            []string  // those that a project has from then on
	At                    time.Time // where the record it makes says it too; zero: now

	// Of an operation that may have to be proposed: the revision that it changes, what it was and
	// is, and the places in it that weaken (none named: all).
	Revision int64
	Was, Now countersign.Value
	Weaker   []string
}

// Audit records a change in the log of the actor's tenant, in the transaction that makes it.
func (s *Core) Audit(tx store.Tx, a Actor, op access.Operation, subject string, c Change) error {
	return s.AuditIn(tx, a.Tenant, a, op, subject, c)
}

// AuditIn records a change in the log of a tenant, or of the realm.
func (s *Core) AuditIn(tx store.Tx, tenant string, a Actor, op access.Operation, subject string, c Change) error {
	if err := s.guard(tx, tenant, a, op, subject, c); err != nil {
		return err
	}
	rec := s.Record(a, op, subject)
	rec.Before, rec.After, rec.Reason, rec.Weakens = c.Before, c.After, c.Reason, c.Weakens
	rec.AnswerKeys = c.AnswerKeys
	if !c.At.IsZero() {
		rec.At = c.At
	}
	crashpoint.At("control.written", op)
	return appendAudit(tx, tenant, rec)
}

// AppendAudit appends a record to a log that AuditIn doesn't make. None that weakens: it would not be
// held back.
func AppendAudit(tx store.Tx, tenant string, rec countersign.AuditRecord) error {
	if rec.Weakens {
		return unaskableError(rec.Action)
	}
	return appendAudit(tx, tenant, rec)
}

func appendAudit(tx store.Tx, tenant string, rec countersign.AuditRecord) error {
	return audit.Append(tx, tenant, []countersign.AuditRecord{rec})
}
