// Package notify mails people who can decide an approval: when it is asked for,
// when it escalates to others, and an hour before it expires. Nobody gets more than one mail a minute, which lists
// what waits. It watches what runs wait for and moves nothing:
// a lost mail costs time, and nothing else.
package notify

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/platform/periodic"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Postbox takes a mail for one address.
type Postbox interface {
	Send(ctx context.Context, to, subject, text string) error
}

// Config is what the notifier is told by the settings.
type Config struct {
	BaseURL string // the public address, for links
	Eyes    access.Eyes
	Now     func() time.Time
	Log     *slog.Logger
}

// How often it looks, and how it keeps itself small.
const (
	every = 5 * time.Second
	batch = 200 // waiting runs read at once

	claimsAtOnce = 200 // notices in one commit

	lapseAhead = time.Hour       // how long before it expires the second mail goes
	sweepEvery = 6 * time.Hour   // how often notices of old approvals are deleted
	keepFor    = 24 * time.Hour  // beyond the end of their approval
	sweepMost  = 1000            // notices looked at in one sweep
	mostMails  = 50              // people told of one approval
	mailEvery  = time.Minute     // between two mails to one address, at least
	sending    = 5 * time.Minute // how long a process has for the mails that it has begun
	begins     = 2 * time.Minute // how long it begins mails of them, each of which takes half a minute at most
	firstWait  = time.Minute     // before a mail is tried again; doubled each time
	longest    = 30 * time.Minute
)

// Notifier mails. Start begins, Stop ends it.
type Notifier struct {
	cfg   Config
	store store.Store
	post  Postbox

	seen  map[string]done      // by notice id: what is known to be sent, so that most looks write nothing
	later map[string]time.Time // by notice id: before when nothing is to be tried
	swept time.Time
	from  string // where the next sweep begins, and that of addresses
	mails string

	brief map[string]*records.Approval // by notice id: those that wait, without what they would send

	rounds *periodic.Task
}

// New makes a notifier.
func New(cfg Config, s store.Store, post Postbox) *Notifier {
	return &Notifier{cfg: cfg, store: s, post: post, seen: map[string]done{}, later: map[string]time.Time{}, from: records.FirstNotice, mails: records.FirstMailed, brief: map[string]*records.Approval{}}
}

// Start looks every few seconds until Stop.
func (n *Notifier) Start() {
	n.rounds = periodic.Start(every, n.Look)
}

// Stop gives up a mail that is being sent, and waits.
func (n *Notifier) Stop() {
	n.rounds.Stop()
}

// Look finds what people should be told now, and tells them. Whatever goes wrong
// is logged: the next look is soon.
func (n *Notifier) Look(ctx context.Context) {
	due, waiting, err := n.due(ctx)
	if err != nil {
		n.failed(ctx, err)
		return
	}
	if err := n.tell(ctx, due, waiting); err != nil {
		n.failed(ctx, err)
		return
	}
	if now := n.cfg.Now(); now.Sub(n.swept) >= sweepEvery {
		n.swept = now
		if err := n.sweep(ctx); err != nil {
			n.failed(ctx, err)
		}
	}
}

// tell sends one mail to each who is to be told something now, and keeps which were
// sent: only then is a notice done. What was refused is tried again later; a process
// that ends amid its mails is relieved, and one that is slow begins no more of them.
func (n *Notifier) tell(ctx context.Context, due, waiting []notice) error {
	r := &round{letters: map[string]*letter{}, began: n.cfg.Now()}
	var unclaimed error // what was claimed before is sent all the same
	for batch := range slices.Chunk(due, claimsAtOnce) {
		if unclaimed = n.claim(ctx, batch, r); unclaimed != nil {
			break
		}
	}
	if len(r.letters) == 0 {
		return unclaimed
	}
	if err := n.complete(ctx, r, waiting); err != nil {
		n.failed(ctx, err) // the letters tell what is new all the same
	}
	sent := n.send(ctx, r)
	if ctx.Err() != nil && len(sent) == 0 {
		return ctx.Err()
	}
	if err := n.keepMailed(context.WithoutCancel(ctx), r, sent); err != nil {
		return err
	}
	for claims := range slices.Chunk(r.claims, claimsAtOnce) {
		if err := n.keep(context.WithoutCancel(ctx), claims, sent); err != nil {
			return err
		}
	}
	return unclaimed
}

// send sends the letters of a round, and gives when each was sent.
func (n *Notifier) send(ctx context.Context, r *round) map[string]time.Time {
	sent := map[string]time.Time{}
	for _, to := range slices.Sorted(maps.Keys(r.letters)) {
		if n.cfg.Now().Sub(r.began) > begins {
			n.cfg.Log.Warn("mails to approvers are slow: some are put off", "letters", len(r.letters), "sent", len(sent))
			break
		}
		subject, text := r.letters[to].words(n.cfg.BaseURL)
		if err := n.post.Send(ctx, to, subject, text); err != nil {
			n.failed(ctx, err)
			continue
		}
		sent[to] = n.cfg.Now()
	}
	return sent
}

func (n *Notifier) failed(ctx context.Context, err error) {
	if ctx.Err() == nil {
		n.cfg.Log.Warn("approvers not told", "error", err)
	}
}

// kind is why people are told.
type kind int

const (
	asked kind = iota
	escalated
	lapsing
)
