package retention

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/archive"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// ended has the statuses of runs that never change again.
var ended = []countersign.RunStatus{countersign.RunCompleted, countersign.RunFailed, countersign.RunCancelled}

// batch has the runs that go into one file.
type batch struct {
	tenant string
	runs   []filed
	bytes  int
	passed int  // runs read that are not due
	more   bool // there are more runs to read
}

// filed is a run with all its documents, as stored.
type filed struct {
	held      *runrepo.LoadedRun
	approvals []countersign.Approval
	receipt   countersign.Value
}

func (b *batch) encode() ([]byte, error) {
	entries := make([]archive.Entry, len(b.runs))
	for i, r := range b.runs {
		entries[i] = archive.Entry{Run: *r.held.Run(), Approvals: r.approvals, Receipt: r.receipt}
		entries[i].Run.PlanSnapshot = r.held.Plan()
	}
	redactPlans(entries)
	return archive.Encode(b.tenant, entries)
}

// find reads runs of a status, the oldest first and without the first skip ones, and keeps
// the runs that are due. It reads all that their removal will read: no file is written of what
// can't be removed.
func (a *Archiver) find(ctx context.Context, tenant string, status countersign.RunStatus, skip int) (b *batch, err error) {
	due := a.cfg.Now().Add(-a.cfg.Keep)
	err = a.store.View(ctx, func(tx store.Tx) error {
		b = &batch{tenant: tenant}
		if _, _, err := audit.Head(tx, tenant); err != nil {
			return err
		}
		rows, err := tx.List(store.Runs, tenant, store.Query{
			Where: []store.Filter{store.Equal("status", string(status)), {Column: "created", Op: store.AtMost, Values: []any{due.UnixMicro()}}},
			Order: []store.Order{{Column: "created"}}, Limit: batchRuns, Offset: skip,
		})
		if err != nil {
			return err
		}
		return a.take(tx, b, rows, due)
	})
	return b, err
}

// take reads the runs that are due, up to the bounds of a file, and passes over those that
// were created early and ended late, those that somebody holds, and those that can't be read.
func (a *Archiver) take(tx store.Tx, b *batch, rows []store.Row, due time.Time) error {
	b.more = len(rows) == batchRuns
	for _, row := range rows {
		if b.bytes > batchBytes {
			b.more = true
			return nil
		}
		taken, err := b.add(tx, a.runs, row, due)
		if err := a.cfg.Unreadable.Pass(unreadable.Record{Tenant: b.tenant, Kind: "run", ID: row.ID}, err); err != nil {
			return err
		}
		if !taken {
			b.passed++
		}
	}
	return nil
}

// add reads a run if it is due.
func (b *batch) add(tx store.Tx, l *runrepo.Repository, row store.Row, due time.Time) (bool, error) {
	var rec records.Run
	if err := records.Decode(row, &rec); err != nil || rec.CompletedAt.After(due) || rec.Hold != nil {
		return false, err
	}
	held, err := l.Load(tx, runrepo.Ref{Tenant: b.tenant, RunID: row.ID})
	if err != nil {
		return false, err
	}
	approvals, err := records.Approvals.List(tx, b.tenant, store.Query{Where: []store.Filter{store.Equal("run", row.ID)}, Order: []store.Order{{Column: "created"}}})
	if err != nil {
		return false, err
	}
	f := filed{held: held}
	for _, rec := range approvals {
		f.approvals = append(f.approvals, rec.Approval)
	}
	_, _, err = records.Plans.Get(tx, b.tenant, held.Run().PlanID)
	if _, errLast := f.isLastRehearsal(tx, b.tenant); err != nil || errLast != nil {
		return false, errors.Join(err, errLast)
	}
	b.runs, b.bytes = append(b.runs, f), b.bytes+held.Size()
	return true, nil
}

// Why a batch isn't removed.
var (
	// errMoved: a late answer has changed a run since it was filed. The next pass archives it again.
	errMoved = errors.New("a late answer came")
	// errTaken: another process has archived a run, or written its archive anew.
	errTaken = errors.New("another process archived it")
)

// remove deletes the runs of a batch from the store. For each it keeps what a repeated start
// with its idempotency key is answered, and it records the file in the audit log.
func (b *batch) remove(tx store.Tx, l *runrepo.Repository, f *file, now time.Time) error {
	for _, r := range b.runs {
		l.Deletes(r.held.Ref)
		if err := r.remove(tx, b.tenant, f, now); err != nil {
			return fmt.Errorf("run %s: %w", r.held.Ref.RunID, err)
		}
	}
	first, last := b.runs[0].held.Run(), b.runs[len(b.runs)-1].held.Run()
	return audit.Append(tx, b.tenant, []countersign.AuditRecord{{
		At: now, Actor: countersign.SystemPrincipal, Action: "runs.archive", Subject: "archive/" + f.name, Outcome: countersign.AuditDone,
		Reason: fmt.Sprintf("%d runs that ended %s, from %s to %s; the digest is the file's SHA-256", len(b.runs), first.Status, first.ID, last.ID), Digest: f.sha256,
	}})
}

func (r filed) remove(tx store.Tx, tenant string, f *file, now time.Time) error {
	run := r.held.Run()
	rec, _, err := records.Runs.Get(tx, tenant, run.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return errTaken
	case err != nil:
		return err
	case rec.Revision != run.Revision:
		return errMoved
	}
	left := records.ArchivedOf(rec, f.name, f.sha256, now)
	if _, err := records.ArchivedRuns.Put(tx, tenant, run.ID, left, 0); err != nil {
		return err
	}
	for i := range run.Steps {
		if err := tx.Delete(store.Steps, tenant, records.StepID(run.ID, i)); err != nil {
			return err
		}
	}
	for n := range rec.Probes {
		if err := tx.Delete(store.Steps, tenant, records.ProbeID(run.ID, n+1)); err != nil {
			return err
		}
	}
	for _, a := range r.approvals {
		if _, err := records.ArchivedApprovals.Put(tx, tenant, records.ArchivedApprovalID(a.ID), &records.ArchivedApproval{RunID: run.ID, ProjectID: a.ProjectID}, 0); err != nil {
			return err
		}
		if err := records.Approvals.Delete(tx, tenant, a.ID); err != nil {
			return err
		}
	}
	if err := errors.Join(r.removePlan(tx, tenant), r.removeRehearsal(tx, tenant), records.RemoveTerms(tx, tenant, run)); err != nil {
		return err
	}
	return records.Runs.Delete(tx, tenant, run.ID)
}

// removePlan deletes the plan if it was made for this run only. A plan that a caller created
// stays.
func (r filed) removePlan(tx store.Tx, tenant string) error {
	id := r.held.Run().PlanID
	rec, _, err := records.Plans.Get(tx, tenant, id)
	if err != nil || !rec.Synthetic {
		return err
	}
	return records.Plans.Delete(tx, tenant, id)
}

// removeRehearsal deletes the reference of a plan to this run as its last rehearsal: nothing
// can be compared with an archived run.
func (r filed) removeRehearsal(tx store.Tx, tenant string) error {
	is, err := r.isLastRehearsal(tx, tenant)
	if err != nil || !is {
		return err
	}
	return records.Rehearsals.Delete(tx, tenant, r.held.Run().PlanDigest)
}

func (r filed) isLastRehearsal(tx store.Tx, tenant string) (bool, error) {
	run := r.held.Run()
	if run.Mode != countersign.ModeDryRun {
		return false, nil
	}
	last, _, err := records.Rehearsals.Get(tx, tenant, run.PlanDigest)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil && last.RunID == run.ID, err
}
