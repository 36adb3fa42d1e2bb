package runrepo_test

import (
	"context"
	"errors"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// TestNoRunIsOfNothing: a run without a plan or steps would be COMPLETED with nothing done.
func TestNoRunIsOfNothing(t *testing.T) {
	h := open(t)
	for _, p := range []*countersign.Plan{{}, {ID: "plan-1"}, {Steps: []countersign.Step{{ID: "s"}}}} {
		err := h.store.Update(context.Background(), func(tx store.Tx) error {
			_, err := h.repository.Start(tx, p, "acme", run.New(p, "run-0", "user:ada@example.com", "k", h.now), access.Requester{ID: "user:ada@example.com"}, runrepo.Request{})
			return err
		})
		if err == nil {
			t.Fatalf("a run of %+v is stored", p)
		}
		if want := `runrepo: run "run-0" is of no plan with steps: plan "" has 0, the run 0`; p.ID == "" && p.Steps == nil && err.Error() != want {
			t.Errorf("%v\nnot %s", err, want)
		}
	}
}

// TestARunOfNothingIsMovedByNothing: as an earlier release may have stored it.
func TestARunOfNothingIsMovedByNothing(t *testing.T) {
	h := open(t)
	ref := h.mustStart("acme")
	h.update(func(tx store.Tx) error {
		rec, version, err := records.Runs.Get(tx, "acme", ref.RunID)
		if err != nil {
			return err
		}
		rec.Mode = countersign.ModeDryRun
		_, err = records.Runs.Put(tx, "acme", ref.RunID, rec, version)
		return err
	})
	_, err := h.apply(ref, run.Resumed{})
	want := "run " + ref.RunID + ` isn't one of plan "plan-1" and its steps: ` + store.ErrDamaged.Error()
	if !errors.Is(err, store.ErrDamaged) || err.Error() != want {
		t.Errorf("%v\nnot %s", err, want)
	}
}
