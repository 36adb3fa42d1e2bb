// Package webhook sends notifications to the webhooks of tenants. A notification is a hint
// to read the API and never the source of truth (contract 10, NOTIFY_ORIGINS).
//
// The sender finds events in the audit log, to which each change of a run writes in the
// same commit: notifications cost the execution of a step nothing, and a crash loses none.
// For each webhook a cursor into the log is stored, and the notifications that are not known
// to have arrived; each of them is retried by itself. The package never changes a run.
package webhook

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/periodic"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// Caller sends one notification once. problem is "" if the receiver took it.
type Caller interface {
	Notify(ctx context.Context, n request.Notice) (status int, problem string)
}

// Config has the settings of the sender.
type Config struct {
	BaseURL    string // the public address of the service, for links
	Backoff    []time.Duration
	Now        func() time.Time
	Log        *slog.Logger
	Unreadable *unreadable.Records
}

// Backoff has the delays after each failed attempt, as Standard Webhooks recommends. When
// the last attempt, three days later, fails, the notification is dropped.
var Backoff = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// Bounds of the work that is done at once.
const (
	every       = time.Second
	maxPending  = 64              // notifications of a webhook that are stored as pending; the others stay in the log
	atOnce      = 4               // concurrent attempts of a webhook
	working     = 64              // concurrent rounds, one for each webhook
	window      = 10000           // records of a log searched in one transaction
	holdAttempt = 5 * time.Second // after a call's timeout; then the attempt is considered lost
)

// Sender sends notifications between Start and Stop.
type Sender struct {
	cfg    Config
	store  store.Store
	caller Caller

	turn int

	mu     sync.Mutex
	busy   map[ref]bool
	looked map[ref]looked

	rounds *periodic.Task
	ended  sync.WaitGroup // running rounds
}

// ref identifies a webhook.
type ref struct{ tenant, id string }

// looked is how far beyond its stored cursor the log of a webhook was searched without a
// result. It is kept in memory, since most searches find nothing and need no write.
type looked struct{ stored, to int64 }

// New makes a sender.
func New(cfg Config, s store.Store, caller Caller) *Sender {
	return &Sender{cfg: cfg, store: s, caller: caller, busy: map[ref]bool{}, looked: map[ref]looked{}}
}

// Start looks for new events every second until Stop.
func (s *Sender) Start() {
	s.rounds = periodic.Start(every, s.look)
}

// Stop cancels running attempts, which are repeated later, and waits for them.
func (s *Sender) Stop() {
	s.rounds.Stop()
	s.ended.Wait()
}

// look starts a round for every enabled webhook that has none, so that none waits for
// another.
func (s *Sender) look(ctx context.Context) {
	var all []records.Webhook
	err := s.store.View(ctx, func(tx store.Tx) (err error) {
		all, err = unreadable.List(s.cfg.Unreadable, tx, "webhook", records.Webhooks, store.Realm, records.EveryWebhook())
		return err
	})
	if err != nil {
		s.failed(ctx, err)
		return
	}
	s.forget(all)
	s.turn++ // with more webhooks than rounds, each one comes first in turn
	for i := range all {
		if w := all[(i+s.turn)%len(all)]; w.Enabled {
			s.begin(ctx, ref{w.TenantID, w.ID})
		}
	}
}

func (s *Sender) begin(ctx context.Context, r ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[r] || len(s.busy) >= working {
		return
	}
	s.busy[r] = true
	s.ended.Go(func() {
		defer func() { s.mu.Lock(); delete(s.busy, r); s.mu.Unlock() }()
		for ctx.Err() == nil {
			more, err := s.round(ctx, r)
			if err := s.cfg.Unreadable.Pass(unreadable.Record{Tenant: r.tenant, Kind: "webhook", ID: r.id}, err); err != nil {
				s.failed(ctx, err)
			}
			if err != nil || !more {
				return
			}
		}
	})
}

// forget drops the memory of webhooks that no longer exist.
func (s *Sender) forget(present []records.Webhook) {
	known := make(map[ref]bool, len(present))
	for _, w := range present {
		known[ref{w.TenantID, w.ID}] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.looked {
		if !known[r] {
			delete(s.looked, r)
		}
	}
}

func (s *Sender) failed(ctx context.Context, err error) {
	if ctx.Err() == nil {
		s.cfg.Log.Warn("webhook notifications not sent", "error", err)
	}
}

// until is when an attempt that begins now is considered lost with its process.
func (s *Sender) until() time.Time {
	return s.cfg.Now().Add(countersign.WebhookTimeout + holdAttempt)
}
