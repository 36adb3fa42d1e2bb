package control

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync"

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

	// Background is what goes on behind an answer. Close waits for it.
	Background sync.WaitGroup

	*Rights
	*refusalLog
	computations *semaphore.Semaphore // simulations, and other work that takes a processor
	costly       *semaphore.Semaphore // one change at a time that takes the writer for long
	views        *semaphore.Semaphore // the store's readers
}

// newCore returns what the rooms stand on.
func newCore(cfg Config, s store.Store, l *runrepo.Repository, log *slog.Logger) *Core {
	cfg.Quotas = cfg.Quotas.OrDefaults()
	if cfg.Life == nil {
		cfg.Life = context.Background()
	}
	c := &Core{
		Config: cfg, Store: s, Repo: l, Log: log,
		computations: semaphore.Shared(computedAtOnce), costly: semaphore.New(1), views: semaphore.Shared(cmp.Or(cfg.Readers, leastReaders)),
	}
	c.Alone, _ = s.(store.Changing)
	c.Rights = &Rights{Config: &c.Config, looked: cache.New[cache.Stamp, *records.Token](cachedTokens)}
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

// view runs fn on one snapshot, if the actor may use the operation. No tenant has all of the
// store's readers: what takes long for one leaves one to the others. The first transaction of
// a use case is a view or an update, which ask access.Allow; later ones are a read or a
// write, which don't.
func (s *Core) view(ctx context.Context, a Actor, op access.Operation, fn func(tx store.Tx) error) error {
	if err := access.Allow(a.Principal, op); err != nil {
		return err
	}
	var err error
	busy := s.views.Do(ctx, a.Tenant, func() { err = s.read(ctx, fn) })
	return cmp.Or(publicRead(busy), err)
}

// read runs fn on one snapshot. It ends with the caller, at the next thing that fn reads. The
// caller has asked access.Allow.
func (s *Core) read(ctx context.Context, fn func(tx store.Tx) error) error {
	return publicRead(s.Store.View(ctx, func(tx store.Tx) error { return fn(store.Ending(ctx, tx)) }))
}

// update runs fn in a write transaction, if the actor may use the operation.
func (s *Core) update(ctx context.Context, a Actor, op access.Operation, subject string, fn func(tx store.Tx) error) error {
	if err := access.Allow(a.Principal, op); err != nil {
		return s.Refuse(ctx, a, op, subject, err)
	}
	return s.write(ctx, a, op, subject, fn)
}

// write runs fn in a write transaction of the actor, and records a refusal with 403 or 409. The caller
// has asked access.Allow.
func (s *Core) write(ctx context.Context, a Actor, op access.Operation, subject string, fn func(tx store.Tx) error) error {
	err := s.updateAs(ctx, a, fn)
	crashpoint.At("control.committed", op)
	return s.Refuse(ctx, a, op, subject, public(err))
}

func (s *Core) record(a Actor, op access.Operation, subject string) countersign.AuditRecord {
	return countersign.AuditRecord{
		At: s.Config.Now(), Actor: a.ID, Action: string(op), Subject: subject,
		Outcome: countersign.AuditDone, RequestID: a.RequestID, Via: a.Via, ActorMakers: a.Requester().LinkMakers(),
	}
}

// change is one audited change; before and after are revisions or states.
type change struct {
	before, after, reason string
	weakens               bool // the change weakens a gate
}

func (s *Core) audit(tx store.Tx, a Actor, op access.Operation, subject string, c change) error {
	return s.auditIn(tx, a.Tenant, a, op, subject, c)
}

func (s *Core) auditIn(tx store.Tx, tenant string, a Actor, op access.Operation, subject string, c change) error {
	rec := s.record(a, op, subject)
	rec.Before, rec.After, rec.Reason, rec.Weakens = c.before, c.after, c.reason, c.weakens
	crashpoint.At("control.written", op)
	return appendAudit(tx, tenant, rec)
}

func appendAudit(tx store.Tx, tenant string, rec countersign.AuditRecord) error {
	return audit.Append(tx, tenant, []countersign.AuditRecord{rec})
}
