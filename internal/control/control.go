// Package control holds the use cases, one method for each operation of the API. A use
// case asks access.Allow, checks its input, makes the change in one transaction with its
// audit record, and then wakes the engine. What serves requests reaches the store and
// runs only through this package.
//
// It imports platform, rules, storage, evidence and runtime. It never knows HTTP, which
// engine stores its records, or how a call is sent.
package control

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/platform/cache"
	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/platform/passkey"
	"github.com/countersign/countersign/internal/platform/semaphore"
	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/platform/throttle"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/model"
	"github.com/countersign/countersign/internal/rules/project"
	"github.com/countersign/countersign/internal/rules/quota"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/runtime/updates"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// Driver gets each run that was started or moved, and continues it.
type Driver interface {
	Drive(moved *runrepo.LoadedRun)
	// Calls reports that this process has a side effect of a run under way.
	Calls(ref runrepo.Ref) bool
}

// Prober sends the two kinds of request that belong to no step: health checks
// and a reviewer's probes.
type Prober interface {
	Health(ctx context.Context, tenant string, boundTo map[string]string, p *countersign.Project) countersign.HealthCheck
	Call(ctx context.Context, c request.Call) request.Outcome
}

// Config holds the settings of the use cases and what they depend on.
type Config struct {
	Allowed    project.Allowed
	Eyes       access.Eyes
	MaxActive  int
	Quotas     quota.Bounds
	Version    string
	NewID      func(prefix string) string
	NewSecret  func() [32]byte
	Now        func() time.Time
	Post       Postbox         // nil: sign-in codes go to the log
	Shared     bool            // other processes use the store too
	Life       context.Context // its end drops mails that are not sent yet; nil: it never ends
	Metrics    *telemetry.Metrics
	Readers    int                 // Views that the store runs at once; 0: four
	Unreadable *unreadable.Records // what work over all tenants passes over
}

// Service is the use cases.
type Service struct {
	cfg    Config
	store  store.Store
	alone  store.Changing // the store, if only this process writes to it; else nil
	runs   *runrepo.Repository
	driver Driver
	live   *updates.Hub
	prober Prober
	log    *slog.Logger

	tokens    *cache.Cache[string, knownToken] // by hash
	tokenRefs *cache.Cache[string, records.TokenRef]
	looked    *cache.Cache[cache.Stamp, *records.Token] // as transactions that write have seen them
	names     *cache.Cache[principalName, knownName]
	documents *cache.Cache[documentKey, ListedModel]
	machines  *cache.Cache[cache.Stamp, *model.Machine]
	taken     *cache.Cache[plannedKey, run.Estimate]
	keyRaces  *cache.Cache[string, time.Time] // by tenant: when two starts took one key for free

	computations  *semaphore.Semaphore // simulations, and other work that takes a processor
	auditReads    *semaphore.Semaphore // one read of a span of an audit log at a time
	searches      *semaphore.Semaphore // one read of a span of a search at a time
	syncs         *semaphore.Semaphore // one manifest at a time
	costly        *semaphore.Semaphore // one change at a time that takes the writer for long
	views         *semaphore.Semaphore // the store's readers
	probing       sync.Map             // runrepo.Ref of each run with a probe under way
	touching      sync.Map             // ids of the tokens and sessions whose last use is being written
	background    sync.WaitGroup
	refusalCounts refusalCounts // repeated refusals
	streams       streamCounts
	passkeys      *passkey.Party // nil: browsers allow none at the public address
	heartbeats    heartbeatBatcher
	codeLimit     limit // by e-mail and network address together: sign-in codes that are asked for
	siteLimit     limit // by e-mail and IPv6 site: sign-in codes that are asked for
	tryLimit      limit // by network address: all attempts without a session
	linkLimit     limit // by maker and user: sign-in links that are made
	beginLimit    limit // by network address: sign-ins begun at the identity provider or by passkey
	codes         *codeMails
	counts        storedCounts
	prover        audit.Prover // of the records in receipts
	keeping       sync.Map     // tenants whose log's hashes are being kept
	verifier      audit.Verifier
}

// cachedKeyRaces is of how many tenants it is known that two starts took one key for free.
const cachedKeyRaces = 1024

// cachedEstimates is of how many plans it is known what judging their steps takes.
const cachedEstimates = 1024

// computedAtOnce is how many simulations and validations run at once, of one tenant one less.
const computedAtOnce = 2

// leastReaders is how many Views each store runs at once.
const leastReaders = 4

// New returns the use cases.
func New(cfg Config, s store.Store, l *runrepo.Repository, d Driver, hub *updates.Hub, pr Prober, log *slog.Logger) *Service {
	cfg.Quotas = cfg.Quotas.OrDefaults()
	service := &Service{
		cfg: cfg, store: s, runs: l, driver: d, live: hub, prober: pr, log: log, computations: semaphore.Shared(computedAtOnce), auditReads: semaphore.New(1), searches: semaphore.New(1), costly: semaphore.New(1), syncs: semaphore.New(1),
		views:     semaphore.Shared(cmp.Or(cfg.Readers, leastReaders)),
		tokens:    cache.New[string, knownToken](cachedTokens),
		tokenRefs: cache.New[string, records.TokenRef](cachedTokens),
		looked:    cache.New[cache.Stamp, *records.Token](cachedTokens),
		names:     cache.New[principalName, knownName](cachedNames),
		documents: cache.New[documentKey, ListedModel](cachedModels),
		machines:  cache.New[cache.Stamp, *model.Machine](cachedMachines),
		taken:     cache.New[plannedKey, run.Estimate](cachedEstimates),
		keyRaces:  cache.New[string, time.Time](cachedKeyRaces),
	}
	service.alone, _ = s.(store.Changing)
	service.codeLimit, service.tryLimit = newLimit(cfg, s, "asking", codeRate), newLimit(cfg, s, "trying", tryRate)
	service.linkLimit = newLimit(cfg, s, "linking", codeRate)
	service.siteLimit = newLimit(cfg, s, "siting", siteCodeRate)
	service.beginLimit = ownLimit{throttle.New(beginRate, limitKeysInMemory)} // not shared: what it begins is small, and swept soon
	service.codes = newCodeMails()
	if service.cfg.Life == nil {
		service.cfg.Life = context.Background()
	}
	return service
}

// Close writes the refusals that were counted, and waits for background writes.
func (s *Service) Close() {
	s.recordAllRepeats()
	s.background.Wait()
}

// Actor is a principal making one request.
type Actor struct {
	access.Principal
	RequestID string
	Via       string // the chat service in which a person acts; "" for the API and the console
	account   string // there, by which they act
}

func (a Actor) runActor() runrepo.Actor {
	return runrepo.Actor{ID: a.ID, RequestID: a.RequestID, Via: a.Via, Whole: a.Requester(), Person: a.Person}
}

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

// refusals are the codes of refused writes that the audit log records (contract 9): every
// 403 and 409.
var refusals = map[countersign.Code]bool{
	countersign.CodeRoleRequired: true, countersign.CodeProjectScope: true, countersign.CodeSelfApproval: true, countersign.CodeCSRF: true,
	countersign.CodeAssertionRequired: true, countersign.CodeAssertionInvalid: true,
	countersign.CodeRevisionConflict: true, countersign.CodeIdempotencyConflict: true, countersign.CodeSequenceConflict: true,
	countersign.CodeManifestConflict: true, countersign.CodeStateConflict: true, countersign.CodeModelInvalid: true,
	countersign.CodeProjectInUse: true, countersign.CodeProjectDisabled: true, countersign.CodePlanInvalid: true,
	countersign.CodeHealthCheckRequired: true, countersign.CodeAgentNotAdmitted: true, countersign.CodeApprovalExpired: true,
	countersign.CodeExpectationNotMet: true, countersign.CodeDrift: true, countersign.CodeQuotaExceeded: true,
}

// Refuse records a refused request of a known principal, if refusals of the operation are
// recorded. Repeats are counted in one record. It returns the error to answer with:
// `unavailable` instead of the refusal if the record can't be written.
func (s *Service) Refuse(ctx context.Context, a Actor, op access.Operation, subject string, err error) error {
	code := countersign.ErrorCode(err)
	if !access.IsWrite(op) || !refusals[code] {
		return err
	}
	rec := s.record(a, op, s.recordedAs(ctx, a.Tenant, subject))
	rec.Outcome = countersign.AuditRefused + ": " + string(code)
	if unwritten := s.recordRefusal(ctx, op, a.Tenant, rec); unwritten != nil {
		return public(unwritten)
	}
	return err
}

// recordedAs is the subject of a refusal: that of a decision is its run, as it is when it is
// made. An approval that isn't there is named itself.
func (s *Service) recordedAs(ctx context.Context, tenant, subject string) string {
	id, is := strings.CutPrefix(subject, "approval/")
	if !is {
		return subject
	}
	err := s.read(ctx, func(tx store.Tx) error {
		rec, _, err := records.Approvals.Get(tx, tenant, id)
		if err == nil {
			subject = "run/" + rec.RunID
		}
		return err
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		s.log.WarnContext(ctx, "a refused decision is recorded with its approval, for its run can't be read", "approval", id, "error", err)
	}
	return subject
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

// public turns the store's errors into errors that a caller may see. An error without a
// code stays internal.
func public(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrFull):
		return countersign.Errorf(countersign.CodeUnavailable, "the store's disk is full; nothing was changed. Free space on it: writes go on by themselves once there is enough, which is 16 MiB or less for a store in a directory")
	case errors.Is(err, store.ErrUnavailable):
		return countersign.Errorf(countersign.CodeUnavailable, "the store is unavailable now; nothing was changed, try again")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return countersign.Errorf(countersign.CodeUnavailable, "the request ended before its turn came; nothing was changed")
	}
	return err
}

// publicRead is public for a read, which claims nothing of changes: one may be committed, and
// the read after it is only its answer.
func publicRead(err error) error {
	switch {
	case errors.Is(err, store.ErrUnavailable):
		return countersign.Errorf(countersign.CodeUnavailable, "the store is unavailable now; try again")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return countersign.Errorf(countersign.CodeUnavailable, "the request ended before it was answered")
	}
	return err
}

// found turns "no such document" into a 404 that names it.
func found(err error, kind, id string) error {
	if errors.Is(err, store.ErrNotFound) {
		return countersign.Errorf(countersign.CodeNotFound, "there is no %s %s", kind, id)
	}
	return err
}

// given refuses a blank reason or evidence.
func given(field, text string) error {
	if safetext.Blank(text) {
		return countersign.Errorf(countersign.CodeInvalidRequest, "%s: say why; it can't be blank", field)
	}
	return nil
}

// List is the requested page of a list.
type List struct {
	Limit   int
	Offset  int
	Retired bool // include what is retired
}

var (
	newestFirst = []store.Order{{Column: "created", Descending: true}, {Column: "id", Descending: true}}
	oldestFirst = []store.Order{{Column: "created"}, {Column: "id"}}
)

// current adds a filter against retired items, unless Retired is set.
func (l List) current(where ...store.Filter) []store.Filter {
	if l.Retired {
		return where
	}
	return append(where, records.NotRetired)
}

// readAtOnce is how many stored documents a list has in memory: each may have some mebibytes.
const readAtOnce = 4

// whole keeps all of an item.
func whole[T any](v T) (T, error) { return v, nil }

// withNames has show see the items of a page with the names of the principals beside them, or
// without if these can't be read.
func withNames[T, U any](tx store.Tx, tenant string, show func(T) (U, error)) func(T) (U, error) {
	n := naming{tx: tx, known: map[principalName]string{}}
	return func(v T) (U, error) {
		named := v
		if n.fill(reflect.ValueOf(&named).Elem(), tenant) != nil {
			named = v
		}
		return show(named)
	}
}

func (l List) query(order []store.Order, where ...store.Filter) store.Query {
	return store.Query{Where: where, Order: order, Limit: l.Limit, Offset: l.Offset}
}
