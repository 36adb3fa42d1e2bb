package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/test/harness"
)

// onDatabase is a world on PostgreSQL with a run that waits for its approval.
func onDatabase(t *testing.T) (w *world, database, plan, waiting string) {
	t.Helper()
	database = pgtest.Database(t)
	w = newWorld(t, harness.Set("STORE", database))
	w.shop.On("POST", "/refunds", harness.Answering(201, `{"ok":true}`))
	plan = w.ready(t, planOf(step("refund", "refund", doc{"orderId": "A-1"})))
	waiting = w.start(t, plan)
	w.reaches(t, waiting, "WAITING_APPROVAL")
	return w, database, plan, waiting
}

// TestADatabaseRestoredToAnEarlierPointSendsNothingAgain: in the dump a run waits for its approval; after the dump it was approved and
// executed.
func TestADatabaseRestoredToAnEarlierPointSendsNothingAgain(t *testing.T) {
	t.Parallel()
	w, database, plan, run := onDatabase(t)
	restored := pgtest.Clone(t, database)
	w.approve(t, run)
	w.reaches(t, run, "COMPLETED")
	w.Stop()

	r := harness.Run(t, nil, "store", "restored", restored, "--point", "before the approval", "-o", "json")
	if r.Status != 0 {
		t.Fatalf("store restored: %d\n%s%s", r.Status, r.Out, r.Err)
	}
	parsed(t, r.Out).Is(t, "projects", 1).Is(t, "replicas", harness.Replicas).Is(t, "tokensRevoked", false).Is(t, "logs.1.intact", true)

	s := w.on(t, restored)
	s.Admin.Get("/projects/"+shop).OK(t).Is(t, "enabled", false).Is(t, "revision", 2)
	s.Admin.Post("/projects/"+shop+"/health-check", nil).OK(t).Is(t, "healthy", true)
	s.enable(t, shop, 2)
	s.approve(t, run)
	if text := s.reaches(t, run, "FAILED").At("error").Text(); !strings.HasPrefix(text, "drift: ") {
		t.Errorf("the run's error is %q", text)
	}
	s.operator.Post("/runs", doc{"planId": plan}, key()).Refused(t, "drift")
	if n := len(w.shop.Seen("POST", "/refunds")); n != 1 {
		t.Errorf("the refund was sent %d times", n)
	}
	s.Admin.Get("/audit?action=store.restore").OK(t).Is(t, "total", 1).Is(t, "items.0.subject", "project/"+shop).
		Is(t, "items.0.reason", "the store was restored to an earlier point: before the approval")
	s.Admin.Get("/audit?action=store.restore&realm=true").OK(t).Is(t, "total", 1).Is(t, "items.0.subject", "store")
}

// TestAStoreInUseIsNotMadeSafe, nor a missing one; nothing is changed.
func TestAStoreInUseIsNotMadeSafe(t *testing.T) {
	t.Parallel()
	w, database, _, run := onDatabase(t)
	empty, dir := pgtest.Database(t), t.TempDir()+"/none"
	for store, why := range map[string]string{database: "a replica is alive", empty: "there is no store", dir: "there is no store"} {
		r := harness.Run(t, nil, "store", "restored", store)
		if r.Status != 2 || len(r.Lines()) != 1 || !strings.Contains(r.Err, why) || r.Out != "" {
			t.Errorf("%d instead of %q\n%s%s", r.Status, why, r.Out, r.Err)
		}
	}
	w.approve(t, run)
	w.reaches(t, run, "COMPLETED")
	w.Admin.Get("/audit?action=store.restore").OK(t).Is(t, "total", 0)
}

// TestADirectoryBroughtBackByASnapshotIsMadeSafe by the same command.
func TestADirectoryBroughtBackByASnapshotIsMadeSafe(t *testing.T) {
	t.Parallel()
	w, _ := filledWorld(t)
	if r := harness.Run(t, nil, "store", "restored", w.Store); r.Status != 2 || !strings.Contains(r.Err, "another process uses the store") {
		t.Errorf("%d %s", r.Status, r.Err)
	}
	w.Stop()
	if r := harness.Run(t, nil, "store", "restored", w.Store); r.Status != 0 || !strings.Contains(r.Out, "each with a new revision, disabled") {
		t.Errorf("%d\n%s%s", r.Status, r.Out, r.Err)
	}
	s := w.on(t, w.Store)
	s.Admin.Get("/projects/"+shop).OK(t).Is(t, "enabled", false).Is(t, "revision", 2)
	s.Admin.Get("/audit/verify").OK(t).Is(t, "intact", true)
}
