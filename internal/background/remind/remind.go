// Package remind says in the audit log, once each, that an approval expires soon and that it
// has escalated: webhooks and whoever reads the log follow that. It decides and moves
// nothing.
package remind

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/platform/periodic"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// The actions that are recorded of approvals.
const (
	Expiring  = "approval.lapsing"
	Escalated = "approval.escalate"
)

const (
	every       = time.Second
	rest        = 20        // times as long as a look took: it reads all runs that wait
	batch       = 200       // records in one commit
	expiryAhead = time.Hour // before it expires, or a quarter of its time if that is shorter
)

// Config is what the settings say.
type Config struct {
	Now        func() time.Time
	Log        *slog.Logger
	Unreadable *unreadable.Records
}

// Reminder records. Start begins, Stop ends it.
type Reminder struct {
	cfg   Config
	store store.Store
	said  map[about]bool // what is known to be recorded, so that most looks write nothing
	task  *periodic.Task
}

// New makes a reminder.
func New(cfg Config, s store.Store) *Reminder {
	return &Reminder{cfg: cfg, store: s, said: map[about]bool{}}
}

// Start looks every second until Stop, less often where very many runs wait.
func (r *Reminder) Start() { r.task = periodic.Sparing(every, rest, r.Look) }

// Stop waits for the look that is under way.
func (r *Reminder) Stop() { r.task.Stop() }

// about is one thing to record. Of an approval that escalates in steps each is one.
type about struct {
	action, tenant, approval string
	at                       time.Time
}

// Look records what is due. Whatever goes wrong is logged: the next look is soon.
func (r *Reminder) Look(ctx context.Context) {
	due, err := r.due(ctx)
	for part := range slices.Chunk(due, batch) {
		if err == nil {
			err = r.record(ctx, part)
		}
	}
	if err != nil && ctx.Err() == nil {
		r.cfg.Log.Warn("approvals that expire soon or escalate not recorded", "error", err)
	}
}

// due finds what is not known to be recorded.
func (r *Reminder) due(ctx context.Context) (out []about, err error) {
	var waiting map[[2]string]bool
	err = r.store.View(ctx, func(tx store.Tx) error {
		out, waiting = nil, map[[2]string]bool{}
		err := records.EachWaiting(tx, false, func(u *records.Unfinished) error {
			found, err := r.dueOf(tx, u)
			waiting[[2]string{u.TenantID, u.WaitingFor.ApprovalID}] = true
			out = append(out, found...)
			return r.cfg.Unreadable.Pass(unreadable.Record{Tenant: u.TenantID, Kind: "approval", ID: u.WaitingFor.ApprovalID}, err)
		}, r.cfg.Unreadable.PassRun)
		if err == nil {
			out, err = r.recordable(tx, out)
		}
		return err
	})
	for a := range r.said {
		if err == nil && !waiting[[2]string{a.tenant, a.approval}] {
			delete(r.said, a)
		}
	}
	return out, err
}

// recordable leaves out the tenants whose log can't be appended to.
func (r *Reminder) recordable(tx store.Tx, due []about) ([]about, error) {
	var failed error
	whole := map[string]bool{}
	for _, a := range due {
		if _, known := whole[a.tenant]; known {
			continue
		}
		_, _, err := audit.Head(tx, a.tenant)
		whole[a.tenant] = err == nil
		failed = errors.Join(failed, r.cfg.Unreadable.Pass(unreadable.Record{Tenant: a.tenant, Kind: "audit log", ID: a.tenant}, err))
	}
	return slices.DeleteFunc(due, func(a about) bool { return !whole[a.tenant] }), failed
}

// ExpiresSoonAt is from when an approval counts as one that expires soon.
func ExpiresSoonAt(asked, expires time.Time) time.Time {
	return expires.Add(-min(expiryAhead, expires.Sub(asked)/4))
}

// dueOf is what is due of one run that waits for an approval.
func (r *Reminder) dueOf(tx store.Tx, u *records.Unfinished) (out []about, err error) {
	f, now := u.WaitingFor, r.cfg.Now()
	add := func(a about) {
		if !now.Before(a.at) && now.Before(f.ExpiresAt) && !r.said[a] {
			out = append(out, a)
		}
	}
	add(about{Expiring, u.TenantID, f.ApprovalID, ExpiresSoonAt(f.Since, f.ExpiresAt)})
	if escalates := !f.EscalatesAt.IsZero() && !now.Before(f.EscalatesAt); len(out) == 0 && !escalates {
		return nil, nil
	}
	a, _, err := records.Approvals.Get(tx, u.TenantID, f.ApprovalID)
	if errors.Is(err, store.ErrNotFound) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range a.Escalations {
		add(about{Escalated, u.TenantID, f.ApprovalID, e.At})
	}
	return out, nil
}

// record records what nobody has recorded, each with the approval as it is in that commit.
func (r *Reminder) record(ctx context.Context, due []about) error {
	var said []about
	err := r.store.Update(ctx, func(tx store.Tx) error {
		said = nil
		for _, d := range due {
			err := r.one(tx, d)
			if err == nil {
				said = append(said, d)
			}
			if err := r.cfg.Unreadable.Pass(unreadable.Record{Tenant: d.tenant, Kind: "approval", ID: d.approval}, err); err != nil {
				return err
			}
		}
		return nil
	})
	for _, d := range said {
		if err == nil {
			r.said[d] = true
		}
	}
	return err
}

func (r *Reminder) one(tx store.Tx, d about) error {
	a, _, err := records.Approvals.Get(tx, d.tenant, d.approval)
	if errors.Is(err, store.ErrNotFound) || err == nil && a.Status != countersign.ApprovalPending {
		return nil
	}
	if err != nil {
		return err
	}
	rec := countersign.AuditRecord{
		At: r.cfg.Now(), Actor: countersign.SystemPrincipal, Action: d.action, Subject: "approval/" + a.ID,
		Outcome: countersign.AuditDone, Before: string(a.Status), After: d.says(&a.Approval), Step: a.StepID,
	}
	earlier, err := audit.List(tx, d.tenant, audit.Filter{Subject: rec.Subject, Action: rec.Action}, batch, 0)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(earlier.Items, func(e countersign.AuditRecord) bool { return e.After == rec.After }) {
		return nil
	}
	return audit.Append(tx, d.tenant, []countersign.AuditRecord{rec})
}

// says is what has become of the approval: who may decide it from now on, or until when
// anybody may.
func (d about) says(a *countersign.Approval) string {
	if d.action == Expiring {
		return "expires " + a.ExpiresAt.UTC().Format(time.RFC3339Nano)
	}
	var to []string
	for _, e := range a.Escalations {
		if e.At.Equal(d.at) {
			to = append(to, strings.Join(e.Groups, " and ")+" for "+strings.Join(e.For, " and "))
		}
	}
	return strings.Join(to, "; ")
}
