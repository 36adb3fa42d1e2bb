// Package webhook tells tenants' webhooks that something happened: a hint to go and
// look, never the truth itself (contract 10, NOTIFY_ORIGINS).
//
// What is to be told is found in the audit log, where each change of a run has its
// record in the same commit: so telling costs the path of a step nothing, and a crash
// loses nothing. A webhook keeps how far in the log it has looked, and which
// notifications are not known to have arrived, each of which is tried by itself.
// Telling moves no run.
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
)

// Caller sends one notification, once. problem is "" where the receiver took it.
type Caller interface {
	Notify(ctx context.Context, n request.Notice) (status int, problem string)
}

// Config is what the sender is told by the settings.
type Config struct {
	BaseURL string // the public address, for links
	Backoff []time.Duration
	Now     func() time.Time
	Log     *slog.Logger
}

// Backoff is how long after each failed attempt the next one follows, as Standard
// Webhooks recommends; after the last, three days on, a notification is dropped.
var Backoff = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// How much is done at once.
const (
	every       = time.Second
	maxPending  = 64              // notifications of a webhook that are tried; the log keeps the rest
	atOnce      = 4               // of them under way together
	working     = 64              // webhooks that are worked on together
	window      = 10000           // records of a log looked at in one reading
	holdAttempt = 5 * time.Second // beyond a call's timeout: then an attempt is taken to have died
)

// Sender sends. Start begins, Stop ends it.
type Sender struct {
	cfg    Config
	store  store.Store
	caller Caller

	turn int

	mu     sync.Mutex
	busy   map[ref]bool
	looked map[ref]looked

	rounds *periodic.Task
	ended  sync.WaitGroup // deliveries
}

// ref names a webhook.
type ref struct{ tenant, id string }

// looked is how far beyond its stored cursor a webhook has looked in vain: most looks
// find nothing and so write nothing.
type looked struct{ stored, to int64 }

// New makes a sender.
func New(cfg Config, s store.Store, caller Caller) *Sender {
	return &Sender{cfg: cfg, store: s, caller: caller, busy: map[ref]bool{}, looked: map[ref]looked{}}
}

// Start looks every second until Stop.
func (s *Sender) Start() {
	s.rounds = periodic.Start(every, s.look)
}

// Stop gives up what is being sent, which is sent again later, and waits.
func (s *Sender) Stop() {
	s.rounds.Stop()
	s.ended.Wait()
}

// Look does all that is due now, and returns when it is done.
func (s *Sender) Look(ctx context.Context) {
	s.look(ctx)
	s.ended.Wait()
}

// look sets every enabled webhook to work that is not at it: none waits for another.
func (s *Sender) look(ctx context.Context) {
	var all []records.Webhook
	err := s.store.View(ctx, func(tx store.Tx) (err error) {
		all, err = records.AllWebhooks(tx)
		return err
	})
	if err != nil {
		s.failed(ctx, err)
		return
	}
	s.forget(all)
	s.turn++ // so that where there are very many, each is the first in its turn
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
			if err != nil {
				s.failed(ctx, err)
			}
			if err != nil || !more {
				return
			}
		}
	})
}

// forget drops what is remembered of webhooks that are gone.
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
		s.cfg.Log.Warn("webhooks not told", "error", err)
	}
}

// until is when an attempt that begins now is taken to have died with its process.
func (s *Sender) until() time.Time {
	return s.cfg.Now().Add(countersign.WebhookTimeout + holdAttempt)
}
