package retention_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/retention"
	"github.com/countersign/countersign/internal/evidence/archive"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/testing/rerun"
)

const tenant = "acme"

// fixture is a store with a plan whose runs end at once, and an archiver with the test's
// clock.
type fixture struct {
	*testing.T
	store      store.Store
	repository *runrepo.Repository
	dir        string
	now        time.Time
	plan       *countersign.Plan
}

func open(t *testing.T) *fixture {
	h := &fixture{T: t, store: rerun.Always(memory.New()), dir: filepath.Join(t.TempDir(), "archive"), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	h.repository = runrepo.New(runrepo.Config{
		MaxActive: 4, ApprovalTTL: time.Hour, NewID: func(kind string) string { return kind + "-1" },
		OriginAllowed: func(string) bool { return true }, Now: func() time.Time { return h.now },
	})
	h.plan = h.newPlan("plan-1")
	return h
}

func (h *fixture) update(fn func(store.Tx) error) {
	h.Helper()
	if err := h.store.Update(context.Background(), fn); err != nil {
		h.Fatal(err)
	}
}

func (h *fixture) newPlan(id string) *countersign.Plan {
	shop := &countersign.Project{
		ID: "acme-shop", Revision: 1, Name: "Shop", Adapter: countersign.AdapterHTTPJSON, BaseURL: "https://api.example.com", Enabled: true,
		Capabilities: []countersign.Capability{{Name: "refund", Method: "POST", Path: "/refunds"}},
	}
	src := plan.Sources{Model: &countersign.Model{ID: "refunds", Revision: 1}, Projects: map[string]plan.Source{shop.ID: {Project: shop, InScope: true}}}
	step := countersign.Step{ID: "a", Name: "a", ProjectID: shop.ID, Capability: "refund", Input: map[string]countersign.Value{"order": countersign.String("o-1")}}
	p := plan.New(countersign.PlanWrite{Name: "Plan", ModelID: "refunds", ModelRevision: 1, Steps: []countersign.Step{step}, Mode: countersign.ModeDryRun}, src, nil,
		plan.Creation{ID: id, By: "user:ada@example.com", Now: h.now})
	h.update(func(tx store.Tx) error {
		_, _, err := records.Tenants.Get(tx, store.Realm, tenant)
		if errors.Is(err, store.ErrNotFound) {
			_, err = records.Tenants.Put(tx, store.Realm, tenant, &countersign.Tenant{ID: tenant}, 0)
			if err == nil {
				_, err = records.ProjectRevisions.Put(tx, tenant, records.RevisionID(shop.ID, 1), shop, 0)
			}
			if err == nil {
				_, err = records.Models.Put(tx, tenant, "refunds", &records.ModelHead{ID: "refunds", Revision: 1, DocumentRevision: 1}, 0)
			}
			if err == nil {
				_, err = records.Projects.Put(tx, tenant, shop.ID, &records.ProjectHead{ID: shop.ID, Revision: 1, Enabled: true}, 0)
			}
		}
		if err == nil {
			_, err = records.Plans.Put(tx, tenant, p.ID, &records.Plan{Plan: p}, 0)
		}
		return err
	})
	return &p
}

// start starts a rehearsal of the plan.
func (h *fixture) start(id string) {
	h.Helper()
	h.update(func(tx store.Tx) error {
		_, err := h.repository.Start(tx, h.plan, tenant, run.New(h.plan, id, "user:ada@example.com", "key-"+id, h.now), access.Requester{ID: "user:ada@example.com"}, runrepo.Request{})
		return err
	})
}

func (h *fixture) end(id string) {
	h.Helper()
	h.update(func(tx store.Tx) error {
		moved, err := h.repository.Apply(tx, runrepo.Ref{Tenant: tenant, RunID: id}, nil, run.Resumed{}, runrepo.System)
		if err == nil && moved.Run.Run().Status != countersign.RunCompleted {
			err = fmt.Errorf("the run is %s", moved.Run.Run().Status)
		}
		return err
	})
}

func (h *fixture) pass() {
	h.Helper()
	a := retention.New(retention.Config{Keep: 24 * time.Hour, Dir: h.dir, Now: func() time.Time { return h.now }, Log: slog.New(slog.DiscardHandler)}, h.store, h.repository)
	if err := a.Pass(context.Background()); err != nil {
		h.Fatal(err)
	}
}

// stored returns the ids of the runs in the store.
func (h *fixture) stored() string {
	h.Helper()
	var ids []string
	h.view(func(tx store.Tx) error {
		rows, err := tx.List(store.Runs, tenant, store.Query{})
		ids = nil
		for _, row := range rows {
			ids = append(ids, row.ID)
		}
		return err
	})
	return strings.Join(ids, " ")
}

func (h *fixture) view(fn func(store.Tx) error) {
	h.Helper()
	if err := h.store.View(context.Background(), fn); err != nil {
		h.Fatal(err)
	}
}

// files reads every archive file and returns the ids of its runs by the file's digest.
func (h *fixture) files() map[string]string {
	h.Helper()
	found := map[string]string{}
	names, err := filepath.Glob(filepath.Join(h.dir, tenant, "*"))
	if err != nil {
		h.Fatal(err)
	}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			h.Fatal(err)
		}
		ids := ""
		sum, err := archive.Read(f, func(e archive.Entry) error {
			if e.Run.PlanSnapshot == nil || len(e.Run.PlanSnapshot.ProjectSnapshots) != 1 || len(e.Run.Steps) != 1 {
				return fmt.Errorf("run %s isn't whole", e.Run.ID)
			}
			ids = strings.TrimSpace(ids + " " + e.Run.ID)
			return nil
		})
		if err != nil {
			h.Errorf("%s: %v", name, err)
		}
		_ = f.Close()
		found[sum.SHA256] = ids
	}
	return found
}

func TestRunIsArchivedWhenItHasBeenOverForLongEnough(t *testing.T) {
	h := open(t)
	for _, id := range []string{"run-1", "run-2", "run-3"} {
		h.start(id)
	}
	h.end("run-1")
	h.now = h.now.Add(23 * time.Hour)
	h.end("run-2") // created as early, ended later
	h.now = h.now.Add(time.Hour)
	h.pass()
	if got := h.stored(); got != "run-2 run-3" {
		t.Errorf("the store has %s", got)
	}
	h.now = h.now.Add(100 * 24 * time.Hour)
	h.pass()
	if got := h.stored(); got != "run-3" { // run-3 has not ended
		t.Errorf("the store has %s", got)
	}
	if files := h.files(); len(files) != 2 {
		t.Errorf("the files hold %v", files)
	}
}

func TestArchivedRunLeavesNothingButWhatARepeatNeeds(t *testing.T) {
	h := open(t)
	h.start("run-1")
	h.end("run-1")
	h.now = h.now.Add(25 * time.Hour)
	h.pass()
	h.view(func(tx store.Tx) error {
		left, _, err := records.ArchivedRuns.Get(tx, tenant, "run-1")
		if err != nil {
			t.Fatal(err)
		}
		if left.Run.Status != countersign.RunCompleted || h.files()[left.SHA256] != "run-1" || !strings.HasPrefix(left.File, "acme/runs-2026-01-01-") {
			t.Errorf("what stays is %+v", left)
		}
		for _, table := range []*store.Table{store.Runs, store.Steps, store.Approvals} {
			if n, err := tx.Count(table, tenant, store.Query{}); err != nil || n != 0 {
				t.Errorf("%s has %d rows (%v)", table.Name, n, err)
			}
		}
		_, _, err = records.Plans.Get(tx, tenant, "plan-1")
		return err // the plan that a caller created stays
	})
}

func TestAuditLogHoldsTheDigestOfEachFile(t *testing.T) {
	h := open(t)
	for i := range 230 {
		id := fmt.Sprintf("run-%03d", i)
		h.start(id)
		h.end(id)
	}
	h.now = h.now.Add(25 * time.Hour)
	h.pass()
	files := h.files()
	if got := h.stored(); got != "" || len(files) != 3 {
		t.Errorf("%d files, and the store has %q", len(files), got)
	}
	noted := map[string]bool{}
	h.view(func(tx store.Tx) error {
		v, err := audit.Verify(tx, tenant)
		if err != nil || !v.Intact {
			t.Errorf("the log: %+v, %v", v, err)
		}
		rows, err := tx.List(store.Audit, tenant, store.Query{Where: []store.Filter{store.Equal("action", "runs.archive")}})
		for _, row := range rows {
			var r countersign.AuditRecord
			if err := records.Decode(row, &r); err != nil {
				return err
			}
			if _, ok := files[r.Digest]; !ok {
				t.Errorf("record %d names the digest %s, which no file has", r.Seq, r.Digest)
			}
			noted[r.Digest] = true
		}
		return err
	})
	if len(noted) != len(files) {
		t.Errorf("the log knows %d of %d files", len(noted), len(files))
	}
}

// TestCrashBetweenFileAndCommitLosesNothing: the runs are still stored and are archived
// again in the same file.
func TestCrashBetweenFileAndCommitLosesNothing(t *testing.T) {
	h := open(t)
	h.start("run-1")
	h.end("run-1")
	h.now = h.now.Add(25 * time.Hour)
	whole := h.store
	h.store = dying{whole}
	a := retention.New(retention.Config{Keep: 24 * time.Hour, Dir: h.dir, Now: func() time.Time { return h.now }, Log: slog.New(slog.DiscardHandler)}, h.store, h.repository)
	if err := a.Pass(context.Background()); !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("the pass ends with %v", err)
	}
	h.store = whole
	if got := h.stored(); got != "run-1" || len(h.files()) != 1 {
		t.Errorf("the store has %q, the archive %v", got, h.files())
	}
	h.pass()
	if got := h.stored(); got != "" || len(h.files()) != 1 {
		t.Errorf("the store has %q, the archive %v", got, h.files())
	}
}

// dying is a store whose commits fail, as if the process had died.
type dying struct{ store.Store }

func (dying) Update(context.Context, func(store.Tx) error) error { return store.ErrUnavailable }

// TestUnwritableArchiveKeepsTheRuns: no run leaves the store without its file.
func TestUnwritableArchiveKeepsTheRuns(t *testing.T) {
	h := open(t)
	h.start("run-1")
	h.end("run-1")
	h.now = h.now.Add(25 * time.Hour)
	if err := os.WriteFile(h.dir, nil, 0o600); err != nil { // a file where the directory should be
		t.Fatal(err)
	}
	a := retention.New(retention.Config{Keep: 24 * time.Hour, Dir: h.dir, Now: func() time.Time { return h.now }, Log: slog.New(slog.DiscardHandler)}, h.store, h.repository)
	if err := a.Pass(context.Background()); err == nil {
		t.Error("the pass succeeds")
	}
	if got := h.stored(); got != "run-1" {
		t.Errorf("the store has %q", got)
	}
}

// TestWhatCannotBeReadIsPassedOver: more runs than one file has, none of which can be read, keep
// none behind them from being archived, and the pass ends.
func TestWhatCannotBeReadIsPassedOver(t *testing.T) {
	h := open(t)
	const damaged = 230 // more than two spans of a look
	for i := range damaged + 2 {
		id := fmt.Sprintf("run-%03d", i)
		h.start(id)
		h.end(id)
		h.now = h.now.Add(time.Second)
	}
	h.update(func(tx store.Tx) error {
		for i := range damaged {
			if err := tx.Delete(store.Steps, tenant, records.StepID(fmt.Sprintf("run-%03d", i), 0)); err != nil {
				return err
			}
		}
		return nil
	})
	h.now = h.now.Add(25 * time.Hour)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	looks := 0
	a := retention.New(retention.Config{Keep: 24 * time.Hour, Dir: h.dir, Now: func() time.Time {
		if looks++; looks > 1000 {
			end() // it goes round in circles
		}
		return h.now
	}, Log: slog.New(slog.DiscardHandler), Unreadable: unreadable.New(slog.New(slog.DiscardHandler))}, h.store, h.repository)
	if err := a.Pass(ctx); err != nil {
		t.Fatal(err)
	}
	if got := len(strings.Fields(h.stored())); got != damaged {
		t.Errorf("%d runs are left, not the %d that can't be read", got, damaged)
	}
}
