// Package tokenends says that a token ends soon: once in the audit log, which webhooks and whoever
// reads the log follow; by mail to the person who made it; and in the figures. A token that
// was renewed isn't missed, and nothing is said of it.
package tokenends

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/platform/periodic"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// Ending is the action that is recorded of a token.
const Ending = "token.lapsing"

const (
	every  = time.Minute
	rest   = 100 // times as long as a look took: it reads all tokens
	atOnce = 200 // tokens in one read or commit
)

// Postbox sends one mail to one address.
type Postbox interface {
	Send(ctx context.Context, to, subject, text string) error
}

// Config is what the settings say.
type Config struct {
	BaseURL    string // public address of the service, for links
	Post       Postbox
	Now        func() time.Time
	Log        *slog.Logger
	Unreadable *unreadable.Records
}

// Watcher looks at the tokens of all tenants between Start and Stop.
type Watcher struct {
	cfg   Config
	store store.Store
	task  *periodic.Task

	mu    sync.Mutex
	found map[string]Found // by tenant, as of the last look
}

// Found is what a look has found of a tenant, or of all of them.
type Found struct {
	Ending int       // tokens that end soon
	Next   time.Time // when the first token ends, of those that are good; zero for none
}

// New makes a watcher. Without a postbox it mails nobody.
func New(cfg Config, s store.Store) *Watcher {
	return &Watcher{cfg: cfg, store: s, found: map[string]Found{}}
}

// Start looks at once and then every minute until Stop, less often where there are very many tokens.
func (w *Watcher) Start() { w.task = periodic.Sparing(every, rest, w.Look) }

// Stop waits for the look that is under way.
func (w *Watcher) Stop() { w.task.Stop() }

// Found is what the last look found of a tenant; of all of them for the realm.
func (w *Watcher) Found(tenant string) (out Found) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if tenant != store.Realm {
		return w.found[tenant]
	}
	for _, f := range w.found {
		out.Ending += f.Ending
		out.next(f.Next)
	}
	return out
}

func (f *Found) next(at time.Time) {
	if !at.IsZero() && (f.Next.IsZero() || at.Before(f.Next)) {
		f.Next = at
	}
}

// Look tells what is due. Whatever goes wrong is logged: the next look is soon.
func (w *Watcher) Look(ctx context.Context) {
	var letters letters
	err := w.cfg.Unreadable.EachTenant(ctx, w.store, "tokens", func(tenant string) error {
		found, due, err := w.due(ctx, tenant)
		if err != nil {
			return err
		}
		w.mu.Lock()
		w.found[tenant] = found
		w.mu.Unlock()
		for part := range slices.Chunk(due, atOnce) {
			claimed, err := w.tell(ctx, tenant, part)
			if err != nil {
				return err
			}
			letters = append(letters, claimed...)
		}
		return nil
	})
	if err == nil || len(letters) > 0 {
		err = errors.Join(err, w.send(ctx, letters))
	}
	if err != nil && ctx.Err() == nil {
		w.cfg.Log.WarnContext(ctx, "tokens that end soon not told", "error", err)
	}
}

// due is what is found of a tenant, and the tokens of which something is to be told.
func (w *Watcher) due(ctx context.Context, tenant string) (found Found, due []string, err error) {
	err = w.store.View(ctx, func(tx store.Tx) error {
		found, due = Found{}, nil
		return records.Tokens.EachReadable(tx, tenant, store.Query{}, atOnce, func(t *records.Token) error {
			now := w.cfg.Now()
			if over(t, now) {
				return nil
			}
			found.next(t.ExpiresAt)
			if !endsSoon(t, now) {
				return nil
			}
			found.Ending++
			if t.EndTold.IsZero() || w.mailDue(t, now) {
				due = append(due, t.ID)
			}
			return nil
		}, func(row store.Row, err error) error {
			return w.cfg.Unreadable.Pass(unreadable.Record{Tenant: tenant, Kind: "token", ID: row.ID}, err)
		})
	})
	return found, due, err
}

// Each hands over the tokens of a tenant that end soon. Those that can't be read are passed over.
func Each(tx store.Tx, tenant string, now time.Time, each func(*records.Token)) error {
	return records.Tokens.EachReadable(tx, tenant, store.Query{}, atOnce, func(t *records.Token) error {
		if !over(t, now) && endsSoon(t, now) {
			each(t)
		}
		return nil
	}, func(store.Row, error) error { return nil })
}

// over reports a token that ended, or that nobody misses when it does.
func over(t *records.Token, now time.Time) bool {
	return !t.RevokedAt.IsZero() || t.Lapsed || t.RenewedAs != "" || !now.Before(t.ExpiresAt)
}

func endsSoon(t *records.Token, now time.Time) bool {
	return !now.Before(access.EndsSoonAt(t.CreatedAt, t.ExpiresAt))
}

// tell records what nobody has recorded, each with the token as it is in that commit, and claims the
// mails that this process sends now.
func (w *Watcher) tell(ctx context.Context, tenant string, ids []string) (claimed letters, err error) {
	err = w.store.Update(ctx, func(tx store.Tx) error {
		claimed = nil
		for _, id := range ids {
			t, version, err := records.Tokens.Get(tx, tenant, id)
			if err == nil {
				err = w.one(tx, t, version, &claimed)
			}
			if err := w.cfg.Unreadable.Pass(unreadable.Record{Tenant: tenant, Kind: "token", ID: id}, err); err != nil {
				return err
			}
		}
		return nil
	})
	return claimed, err
}

func (w *Watcher) one(tx store.Tx, t *records.Token, version int64, claimed *letters) error {
	now := w.cfg.Now()
	if over(t, now) || !endsSoon(t, now) {
		return nil
	}
	told, mails := t.EndTold.IsZero(), w.mailDue(t, now)
	if told {
		t.EndTold = now
		rec := countersign.AuditRecord{
			At: now, Actor: countersign.SystemPrincipal, Action: Ending, Subject: "token/" + t.ID,
			Outcome: countersign.AuditDone, Before: "valid", After: "expires " + t.ExpiresAt.UTC().Format(time.RFC3339),
		}
		if err := audit.Append(tx, t.TenantID, []countersign.AuditRecord{rec}); err != nil {
			return err
		}
	}
	if mails {
		if err := w.claim(tx, t, now, claimed); err != nil {
			return err
		}
	}
	if !told && !mails {
		return nil
	}
	_, err := records.Tokens.Put(tx, t.TenantID, t.ID, t, version)
	return err
}
