// Package chat brings approvals, and changes that weaken, to people in a chat service: one message for
// each that waits in a channel of its tenant, and decisions by whoever is known to be a user of it.
//
// What was sent is in the store, from before it is sent until the message has told how the
// approval ended. So after a crash each message is sent at least once, and one that may have
// been sent twice says so. A decision goes through the same use case as one in the console.
//
// An Adapter speaks to one service; package slack is one.
package chat

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/platform/periodic"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// Adapter speaks to one chat service.
type Adapter interface {
	// Name is the service's name: lowercase letters only. Audit records have it as `via`.
	Name() string
	// Post sends a message to a channel and returns how the service names it. The error is a
	// RefusedError or a LaterError if the message surely didn't arrive.
	Post(ctx context.Context, channel string, m Message) (ref string, err error)
	// Replace replaces a message. The error is ErrGone if there is no such message any more.
	Replace(ctx context.Context, channel, ref string, m Message) error
	// Listen passes to the desk what people press and type, until the context ends.
	Listen(ctx context.Context, d *Desk)
}

// ErrGone says that somebody has deleted the message.
var ErrGone = errors.New("the message was deleted")

// RefusedError says that the service refused a request, by its code.
type RefusedError struct{ Code string }

func (r RefusedError) Error() string { return "the chat service refused: " + r.Code }

// LaterError says that the service takes nothing before some time has passed.
type LaterError struct{ After time.Duration }

func (l LaterError) Error() string { return "the chat service asks to wait for " + l.After.String() }

// UseCases are those of package control that this one needs.
type UseCases interface {
	Approval(ctx context.Context, a control.Actor, id string) (countersign.Approval, error)
	StillDeciding(ctx context.Context, a control.Actor, id string) (control.Deciders, error)
	RecoveriesLike(ctx context.Context, a control.Actor, approvalID string) ([]string, error)
	MayDecide(ctx context.Context, a control.Actor, id string) error
	Signing(ctx context.Context, a control.Actor, id string) (control.Signing, error)
	Decide(ctx context.Context, a control.Actor, id string, d countersign.Decision) (countersign.Approval, error)
	Change(ctx context.Context, a control.Actor, id string) (countersign.ProposedChange, error)
	ChangeDeciders(ctx context.Context, a control.Actor, id string) ([]string, error)
	MayDecideChange(ctx context.Context, a control.Actor, id string) error
	ChangeSigning(ctx context.Context, a control.Actor) (control.Signing, error)
	DecideChange(ctx context.Context, a control.Actor, id string, d countersign.ChangeDecision) (countersign.ProposedChange, error)
	ChatActor(ctx context.Context, tenant string, c control.ChatAccount, requestID string) (control.Actor, error)
}

// Config is what the settings say.
type Config struct {
	BaseURL    string            // public address of the service, for links
	Channels   map[string]string // by tenant
	Shared     bool              // other processes use the store too
	NewID      func(prefix string) string
	Now        func() time.Time
	Count      func(result string) // counts an answer of a person
	Log        *slog.Logger
	Unreadable *unreadable.Records
}

// Intervals and bounds.
const (
	every     = time.Second
	rest      = 20              // times as long as a look read: all runs that wait
	atOnce    = 20              // requests to the chat service in one look
	mostMade  = 50              // messages made in one look: each reads who may decide
	claimFor  = 2 * time.Minute // longer than all requests about one approval may take
	firstWait = 5 * time.Second // before a failed request is tried again; doubled each time
	longest   = 10 * time.Minute
	maxAlso   = 5 // other messages about one approval that are kept up to date
)

// Chat is the outbox and the desk of one adapter. Start starts it, Stop stops it.
type Chat struct {
	cfg     Config
	store   store.Store
	control UseCases
	adapter Adapter

	process string            // tells this process from others that send
	pause   time.Time         // the service asked to send nothing before
	reading time.Duration     // how long the last look read the store
	said    map[job]basis     // what this process knows of the messages; what it doesn't is found out
	later   map[job]time.Time // when a message is tried again that can't be made of what is stored

	task  *periodic.Task
	desks *periodic.Task
}

// New makes the outbox and the desk of an adapter.
func New(cfg Config, s store.Store, c UseCases, a Adapter) *Chat {
	return &Chat{cfg: cfg, store: s, control: c, adapter: a, process: rand.Text(), said: map[job]basis{}, later: map[job]time.Time{}}
}

// Start sends what is due every second, and listens to people, until Stop.
func (c *Chat) Start() {
	c.task = periodic.Start(every, c.round)
	c.desks = periodic.Start(every, func(ctx context.Context) { c.adapter.Listen(ctx, c.Desk()) })
}

// round looks, and then rests in proportion to what it has read: the requests to the chat
// service in between take no processor.
func (c *Chat) round(ctx context.Context) {
	c.Look(ctx)
	if pause := rest * c.reading; pause > every {
		periodic.Pause(ctx, pause)
	}
}

// Stop returns when the present look has ended and the adapter no longer listens.
func (c *Chat) Stop() {
	c.desks.Stop()
	c.task.Stop()
}

// Desk takes what people answer.
func (c *Chat) Desk() *Desk { return &Desk{c} }

func (c *Chat) link(r Ref) string {
	if r.Change != "" {
		return c.cfg.BaseURL + "/console/changes/" + r.Change
	}
	return c.cfg.BaseURL + "/console/approvals/" + r.Approval
}

func (c *Chat) failed(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		c.cfg.Log.Warn(what, "service", c.adapter.Name(), "error", err)
	}
}
