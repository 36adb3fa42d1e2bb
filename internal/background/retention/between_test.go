package retention_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/background/retention"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/rerun"
)

// TestARunThatChangesAfterItWasFiledStays: a late answer comes between writing the file,
// which lacks it, and the commit that deletes the run.
func TestARunThatChangesAfterItWasFiledStays(t *testing.T) {
	h := open(t)
	h.start("run-1")
	h.end("run-1")
	h.now = h.now.Add(25 * time.Hour)
	answered := rerun.Meanwhile(h.store, func() {
		h.update(func(tx store.Tx) error {
			r, version, err := records.Runs.Get(tx, tenant, "run-1")
			if err != nil {
				return err
			}
			r.Revision++
			_, err = records.Runs.Put(tx, tenant, "run-1", r, version)
			return err
		})
	})
	a := retention.New(retention.Config{Keep: 24 * time.Hour, Dir: h.dir, Now: func() time.Time { return h.now }, Log: slog.New(slog.DiscardHandler)}, answered, h.repository)
	if err := a.Pass(context.Background()); err == nil || !strings.Contains(err.Error(), "run run-1: a late answer came") {
		t.Errorf("the pass says %v", err)
	}
	if got := h.stored(); got != "run-1" {
		t.Errorf("the store has %q", got)
	}
	h.pass()
	if got := h.stored(); got != "" {
		t.Errorf("later the store has %q", got)
	}
}

// TestWhatAnotherProcessArchivesIsLeftToIt: that is no error of the pass, which would end it for the tenants after this one.
func TestWhatAnotherProcessArchivesIsLeftToIt(t *testing.T) {
	h := open(t)
	h.start("run-1")
	h.end("run-1")
	h.now = h.now.Add(25 * time.Hour)
	both := rerun.Meanwhile(h.store, h.pass)
	a := retention.New(retention.Config{Keep: 24 * time.Hour, Dir: h.dir, Now: func() time.Time { return h.now }, Log: slog.New(slog.DiscardHandler)}, both, h.repository)
	if err := a.Pass(context.Background()); err != nil {
		t.Error(err)
	}
	if files := h.files(); len(files) != 1 || h.stored() != "" {
		t.Errorf("the files are %v, and the store has %q", files, h.stored())
	}
}

// TestRunsThatStayHideNoneBehindThem: more runs than a batch takes were created early and
// ended late.
func TestRunsThatStayHideNoneBehindThem(t *testing.T) {
	h := open(t)
	var late []string
	for i := range 120 {
		id := fmt.Sprintf("run-%03d", i)
		h.start(id)
		late = append(late, id)
	}
	h.now = h.now.Add(time.Minute)
	h.start("run-999")
	h.end("run-999")
	h.now = h.now.Add(23 * time.Hour)
	for _, id := range late {
		h.end(id)
	}
	h.now = h.now.Add(2 * time.Hour)
	h.pass()
	h.view(func(tx store.Tx) error {
		n, err := tx.Count(store.Runs, tenant, store.Query{})
		if _, _, gone := records.Runs.Get(tx, tenant, "run-999"); err != nil || n != len(late) || gone == nil {
			t.Errorf("%d runs are left, run-999 %v; %v", n, gone, err)
		}
		return err
	})
}

// TestTheLastRehearsalOfAPlanStaysKnown when an earlier one of the same plan is archived.
func TestTheLastRehearsalOfAPlanStaysKnown(t *testing.T) {
	h := open(t)
	h.start("run-1")
	h.end("run-1")
	h.now = h.now.Add(12 * time.Hour)
	h.start("run-2")
	h.end("run-2")
	h.now = h.now.Add(13 * time.Hour)
	h.pass()
	if got := h.stored(); got != "run-2" {
		t.Fatalf("the store has %q", got)
	}
	h.view(func(tx store.Tx) error {
		last, _, err := records.Rehearsals.Get(tx, tenant, h.plan.PlanDigest)
		if err == nil && last.RunID != "run-2" {
			t.Errorf("the last rehearsal is %s", last.RunID)
		}
		return err
	})
}
