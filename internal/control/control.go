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
	"log/slog"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/platform/cache"
	"github.com/countersign/countersign/internal/platform/passkey"
	"github.com/countersign/countersign/internal/platform/semaphore"
	"github.com/countersign/countersign/internal/platform/throttle"
	"github.com/countersign/countersign/internal/rules/model"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/runtime/updates"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

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
