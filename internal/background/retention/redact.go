package retention

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/archive"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/platform/atomicfile"
	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/platform/periodic"
	"github.com/countersign/countersign/internal/rules/redaction"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// redactPause is how long the redactor rests between two looks for what is to be done.
const redactPause = 2 * time.Second

// Redactor does of redactions what is to be done outside the store: it writes the archive of a
// redacted run anew, and removes files of an archiving that was cut off. Each stage is durable
// before the next begins, and what is begun is in the store: after a crash it goes on.
type Redactor struct {
	cfg    Config
	store  store.Store
	rounds *periodic.Task
	missed map[string]bool // entries whose failure was told already
}

// NewRedactor makes one. Without a directory there are no archives.
func NewRedactor(cfg Config, s store.Store) *Redactor {
	return &Redactor{cfg: cfg, store: s, missed: map[string]bool{}}
}

// Start does periodically what is to be done.
func (r *Redactor) Start() {
	r.rounds = periodic.Start(redactPause, func(ctx context.Context) {
		if err := r.Pass(ctx); err != nil && ctx.Err() == nil {
			r.cfg.Log.Error("redactions not carried on", "error", err)
		}
	})
}

// Stop returns when the last pass has ended.
func (r *Redactor) Stop() { r.rounds.Stop() }

// Pass does all that is to be done now. What goes wrong with one run, or one tenant's, keeps
// no other.
func (r *Redactor) Pass(ctx context.Context) error {
	return r.cfg.Unreadable.EachTenant(ctx, r.store, "redact archives", func(tenant string) error { return r.tenant(ctx, tenant) })
}

func (r *Redactor) tenant(ctx context.Context, tenant string) error {
	var todo []records.Redacting
	err := r.store.View(ctx, func(tx store.Tx) (err error) {
		todo, err = unreadable.List(r.cfg.Unreadable, tx, "redaction", records.Redactings, tenant, store.Query{Where: records.AllRedactings()})
		return err
	})
	if err != nil {
		return err
	}
	for _, e := range todo {
		of := tenant + "/" + e.RunID
		if err := r.carryOn(ctx, tenant, e); err != nil && ctx.Err() == nil {
			if !r.missed[of] {
				r.cfg.Log.Error("what a redacted run held is not removed from the archive yet; it is tried again", "tenant", tenant, "run", e.RunID, "error", err)
			}
			r.missed[of] = true
			continue
		}
		delete(r.missed, of)
	}
	return ctx.Err()
}

// carryOn does all stages of one redaction that are left.
func (r *Redactor) carryOn(ctx context.Context, tenant string, e records.Redacting) error {
	var left *records.Archived
	err := r.store.View(ctx, func(tx store.Tx) (err error) {
		if left, _, err = records.ArchivedRuns.Get(tx, tenant, e.RunID); errors.Is(err, store.ErrNotFound) {
			left, err = nil, nil
		}
		return err
	})
	if err != nil {
		return err
	}
	if left != nil && r.cfg.Dir == "" {
		return fmt.Errorf("the run is in the file %s: say with SVC_PLATFORM_ARCHIVE_DIR in which directory the archives are", left.File)
	}
	if left != nil {
		e.Old, err = r.rewrite(ctx, tenant, e.RunID, left)
		if errors.Is(err, errTaken) {
			return nil // the next pass goes on from there
		}
		if err != nil {
			return err
		}
	}
	for _, name := range e.Old {
		if err := (&file{name: name}).remove(r.cfg.Dir); err != nil {
			return err
		}
		crashpoint.At("redact.removed", nil)
	}
	if err := r.removeStray(ctx, tenant, e.RunID); err != nil {
		return err
	}
	return r.store.Update(ctx, func(tx store.Tx) error { return records.Redactings.Delete(tx, tenant, records.RedactingID(e.RunID)) })
}

// rewrite replaces the archive of a run by one without what the run held, unless it has none of that
// any more. It says which files are to be removed.
func (r *Redactor) rewrite(ctx context.Context, tenant, runID string, left *records.Archived) (old []string, err error) {
	entries, err := r.read(left.File)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(entries, func(e archive.Entry) bool { return e.Run.ID == runID })
	if at < 0 {
		return nil, fmt.Errorf("archive %s: %w", left.File, store.ErrNotFound)
	}
	if entries[at].Run.Redacted == nil && left.Run.Redacted != nil {
		redactEntry(&entries[at], *left.Run.Redacted)
		if err := r.cfg.proveAnew(ctx, tenant, &entries[at]); err != nil {
			return nil, err
		}
		redactPlans(entries)
		doc, err := archive.Encode(tenant, entries)
		if err != nil {
			return nil, err
		}
		f := fileOf(tenant, &entries[0].Run, doc)
		if err := f.write(r.cfg.Dir); err != nil {
			return nil, fmt.Errorf("archive %s: %w", f.name, err)
		}
		crashpoint.At("redact.written", nil)
		if err := r.store.Update(ctx, func(tx store.Tx) error { return r.replace(tx, tenant, runID, left, f, entries) }); errors.Is(err, errTaken) {
			return nil, errors.Join(err, f.removeUnnamed(ctx, r.store, r.cfg.Dir, tenant, runID))
		} else if err != nil {
			return nil, err
		}
		crashpoint.At("redact.replaced", nil)
		r.cfg.Log.Info("archive written anew without what a run held", "tenant", tenant, "run", runID, "file", f.name, "sha256", f.sha256, "before", left.SHA256)
	}
	return r.old(ctx, tenant, runID)
}

// old are the files that the entry says are to be removed.
func (r *Redactor) old(ctx context.Context, tenant, runID string) (old []string, err error) {
	err = r.store.View(ctx, func(tx store.Tx) error {
		e, _, err := records.Redactings.Get(tx, tenant, records.RedactingID(runID))
		if errors.Is(err, store.ErrNotFound) { // another replica has ended it
			old = nil
			return nil
		}
		if err == nil {
			old = e.Old
		}
		return err
	})
	return old, err
}

func (r *Redactor) read(name string) (entries []archive.Entry, err error) {
	f, err := os.Open(filepath.Join(r.cfg.Dir, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_, err = archive.Read(f, func(e archive.Entry) error {
		entries = append(entries, e)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("archive %s: %w", name, err)
	}
	return entries, nil
}

func redactEntry(e *archive.Entry, by countersign.Redaction) {
	e.Run = redaction.Run(&e.Run, by)
	for i := range e.Approvals {
		e.Approvals[i] = redaction.Approval(&e.Approvals[i], by.At)
	}
}

// redactPlans leaves of each plan only what stays, unless a run of the file still has it whole.
func redactPlans(entries []archive.Entry) {
	whole := map[string]*countersign.Plan{}
	for i := range entries {
		if run := &entries[i].Run; run.Redacted == nil {
			whole[run.PlanID] = run.PlanSnapshot
		}
	}
	for i := range entries {
		run := &entries[i].Run
		switch p := whole[run.PlanID]; {
		case p != nil:
			run.PlanSnapshot = p // a file holds one of each
		case run.PlanSnapshot != nil:
			stripped := redaction.Plan(run.PlanSnapshot, run.Redacted.At)
			run.PlanSnapshot = &stripped
		}
	}
}

// replace has all runs of a file lead to the new one, and says so in the audit log, with both hashes.
func (r *Redactor) replace(tx store.Tx, tenant, runID string, was *records.Archived, f *file, entries []archive.Entry) error {
	for _, e := range entries {
		left, version, err := records.ArchivedRuns.Get(tx, tenant, e.Run.ID)
		if err != nil {
			return err
		}
		if left.File != was.File {
			return errTaken
		}
		left.File, left.SHA256 = f.name, f.sha256
		if _, err := records.ArchivedRuns.Put(tx, tenant, e.Run.ID, left, version); err != nil {
			return err
		}
	}
	todo, version, err := records.Redactings.Get(tx, tenant, records.RedactingID(runID))
	if err != nil {
		return err
	}
	if was.File != f.name {
		todo.Old = append(todo.Old, was.File)
	}
	if _, err := records.Redactings.Put(tx, tenant, records.RedactingID(runID), todo, version); err != nil {
		return err
	}
	return audit.Append(tx, tenant, []countersign.AuditRecord{{
		At: r.cfg.Now(), Actor: countersign.SystemPrincipal, Action: "archive.redact", Subject: "archive/" + f.name, Outcome: countersign.AuditDone,
		Before: was.SHA256, After: f.sha256, Digest: f.sha256,
		Reason: fmt.Sprintf("without what run %s held; it replaces archive/%s, whose SHA-256 was the one before", runID, was.File),
	}})
}

// strayAfter is how old a file must be that a write left behind: another replica may be writing.
const strayAfter = time.Hour

// removeStray removes the files of an archiving that was cut off before its commit and that hold the
// run: no commit can refer to them any more, since the run has changed.
func (r *Redactor) removeStray(ctx context.Context, tenant, runID string) error {
	if r.cfg.Dir == "" {
		return nil
	}
	dir := filepath.Join(r.cfg.Dir, tenant)
	found, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	removed := false
	for _, entry := range found {
		is, err := r.isStray(ctx, tenant, runID, entry)
		if err != nil {
			return err
		}
		if !is {
			continue
		}
		if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		removed = true
	}
	if !removed {
		return nil
	}
	return atomicfile.Sync(dir)
}

func (r *Redactor) isStray(ctx context.Context, tenant, runID string, entry os.DirEntry) (bool, error) {
	name := path.Join(tenant, entry.Name())
	if strings.HasSuffix(entry.Name(), ".part") {
		info, err := entry.Info()
		return err == nil && r.cfg.Now().Sub(info.ModTime()) > strayAfter, nil
	}
	if !strings.HasSuffix(entry.Name(), ".jsonl.gz") {
		return false, nil
	}
	named := 0
	err := r.store.View(ctx, func(tx store.Tx) (err error) {
		named, err = tx.Count(store.Audit, tenant, store.Query{Where: []store.Filter{store.Equal("subject", "archive/"+name)}})
		return err
	})
	if err != nil || named > 0 {
		return false, err
	}
	entries, err := r.read(name)
	if err != nil {
		return false, nil //nolint:nilerr // no file of ours, or one that is gone by now
	}
	return slices.ContainsFunc(entries, func(e archive.Entry) bool { return e.Run.ID == runID && e.Run.Redacted == nil }), nil
}
