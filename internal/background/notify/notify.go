// Package notify mails the users who may decide an approval: when it is requested, when it
// escalates, and an hour before it expires. Nobody gets more than one mail a minute; each
// mail also lists the other approvals of these tenants that wait for its recipient. The
// package reads the list of waiting runs and changes no run: a lost mail delays a decision
// and has no other effect.
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
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// Postbox sends one mail to one address.
type Postbox interface {
	Send(ctx context.Context, to, subject, text string) error
}

// Config has the settings of the notifier.
type Config struct {
	BaseURL    string // public address of the service, for links
	Eyes       access.Eyes
	Now        func() time.Time
	Log        *slog.Logger
	Unreadable *unreadable.Records
}

// Intervals and bounds of the notifier.
const (
	every        = 5 * time.Second
	claimsAtOnce = 200 // notices in one commit

	reminderAhead = time.Hour       // the reminder is sent this long before an approval expires
	sweepEvery    = 6 * time.Hour   // how often the records of old mails are deleted
	keepFor       = 24 * time.Hour  // how long a notice is kept after its approval expired, and an address after its last mail
	sweepBatch    = 1000            // records of each kind that one sweep reads
	maxRecipients = 50              // recipients of one notice
	mailEvery     = time.Minute     // minimum time between two mails to one address
	claimFor      = 5 * time.Minute // after this time other processes take over the mails that a process has claimed
	startFor      = 2 * time.Minute // after this time a round starts no further mail; one mail takes at most half a minute
	firstWait     = time.Minute     // before a failed mail is tried again; doubled after each attempt
	longestWait   = 30 * time.Minute
)

// Notifier sends the mails. Start starts it, Stop stops it.
type Notifier struct {
	cfg   Config
	store store.Store
	post  Postbox

	seen  map[string]done      // by notice id: which kinds of mail were sent; with this most looks write nothing
	later map[string]time.Time // by notice id: when to try next
	swept time.Time
	from  string // id of the notice at which the next sweep begins
	mails string // id of the address at which the next sweep begins

	pending map[string]*records.Approval // by notice id: pending approvals without the request to be sent

	rounds *periodic.Task
}

// New makes a notifier.
func New(cfg Config, s store.Store, post Postbox) *Notifier {
	return &Notifier{cfg: cfg, store: s, post: post, seen: map[string]done{}, later: map[string]time.Time{}, from: records.FirstNotice, mails: records.FirstMailed, pending: map[string]*records.Approval{}}
}

// Start calls Look every few seconds until Stop.
func (n *Notifier) Start() {
	n.rounds = periodic.Start(every, n.Look)
}

// Stop cancels the mail that is being sent and returns when the current Look has ended.
func (n *Notifier) Stop() {
	n.rounds.Stop()
}

// Look finds the notices that are due and sends their mails. Errors are only logged: the
// next Look follows within seconds.
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

// tell sends one mail to each person to notify, and then records which mails were sent: a
// notice is done only once that is recorded. A mail that the mail server refused is tried
// again later. If the process ends before it has sent all its mails, another process sends
// the rest; a round that takes too long starts no further mail.
func (n *Notifier) tell(ctx context.Context, due, waiting []notice) error {
	r := &round{letters: map[string]*letter{}, began: n.cfg.Now()}
	var unclaimed error // the notices claimed before this error are sent
	for batch := range slices.Chunk(due, claimsAtOnce) {
		if unclaimed = n.claim(ctx, batch, r); unclaimed != nil {
			break
		}
	}
	if len(r.letters) == 0 {
		return unclaimed
	}
	if err := n.complete(ctx, r, waiting); err != nil {
		n.failed(ctx, err) // the letters are sent with the new approvals only
	}
	sent := n.send(ctx, r)
	if ctx.Err() != nil && len(sent) == 0 {
		return ctx.Err()
	}
	if err := n.recordMailed(context.WithoutCancel(ctx), r, sent); err != nil {
		return err
	}
	for claims := range slices.Chunk(r.claims, claimsAtOnce) {
		if err := n.recordSent(context.WithoutCancel(ctx), claims, sent); err != nil {
			return err
		}
	}
	return unclaimed
}

// send sends the letters of a round. It returns the addresses to which a letter was sent,
// with the time.
func (n *Notifier) send(ctx context.Context, r *round) map[string]time.Time {
	sent := map[string]time.Time{}
	for _, to := range slices.Sorted(maps.Keys(r.letters)) {
		if n.cfg.Now().Sub(r.began) > startFor {
			n.cfg.Log.Warn("the mail server is slow: some mails to approvers are postponed", "letters", len(r.letters), "sent", len(sent))
			break
		}
		subject, text := r.letters[to].compose(n.cfg.BaseURL)
		if err := n.post.Send(ctx, to, subject, text); err != nil {
			n.failed(ctx, err)
			continue
		}
		sent[to] = n.cfg.Now()
	}
	return sent
}

// pass goes on behind an approval that can't be read, or whose notice can't, or a user of whose
// tenant.
func (n *Notifier) pass(d notice, err error) error {
	return n.cfg.Unreadable.Pass(unreadable.Record{Tenant: d.tenant, Kind: "approval", ID: d.approval}, err)
}

func (n *Notifier) failed(ctx context.Context, err error) {
	if ctx.Err() == nil {
		n.cfg.Log.Warn("approvers could not be notified", "error", err)
	}
}

// kind is the reason for a notice. Later kinds include what earlier ones say.
type kind int

const (
	asked kind = iota
	escalated
	expiring
)
