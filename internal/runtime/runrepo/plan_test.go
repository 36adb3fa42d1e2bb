package runrepo_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

func (h *fixture) plan(tenant, id, digest string) (p *countersign.Plan) {
	h.t.Helper()
	h.view(func(tx store.Tx) (err error) {
		p, err = h.repository.Plan(tx, tenant, id, digest)
		return err
	})
	return p
}

func TestPlanComesWithTheRevisionsItWasMadeFrom(t *testing.T) {
	h := open(t)
	stored := h.plans["acme"]
	h.update(func(tx store.Tx) error { // the project moves on
		next := shop()
		next.Revision, next.BaseURL = 2, "https://new.example.com"
		_, err := records.ProjectRevisions.Put(tx, "acme", records.RevisionID("shop", 2), next, 0)
		return err
	})
	p := h.plan("acme", stored.ID, stored.PlanDigest)
	if len(p.ProjectSnapshots) != 1 || p.ProjectSnapshots[0].Revision != 1 || p.ProjectSnapshots[0].BaseURL != "https://api.example.com" {
		t.Errorf("%+v", p.ProjectSnapshots)
	}
	if again := h.plan("acme", stored.ID, stored.PlanDigest); again != p {
		t.Error("an immutable plan was read twice")
	}
	if other := h.plan("beta", stored.ID, stored.PlanDigest); other == p {
		t.Error("another tenant's plan of the same id")
	}
}

// TestPlanOfARolledBackTransactionIsNotServed: a plan that was seen and never
// committed stands for no later one of the same id.
func TestPlanOfARolledBackTransactionIsNotServed(t *testing.T) {
	h := open(t)
	ghost := *h.plans["acme"]
	ghost.ID, ghost.Name, ghost.PlanDigest = "plan-2", "Ghost", "1111"
	_ = h.store.Update(context.Background(), func(tx store.Tx) error {
		if _, err := records.Plans.Put(tx, "acme", "plan-2", &records.Plan{Plan: ghost}, 0); err != nil {
			return err
		}
		if _, err := h.repository.Plan(tx, "acme", "plan-2", "1111"); err != nil {
			return err
		}
		return errors.New("rolled back")
	})
	real := h.register("acme", "plan-2", step("look", "look"))
	if p := h.plan("acme", "plan-2", real.PlanDigest); p.Name == "Ghost" || len(p.Steps) != 1 {
		t.Errorf("%+v", p)
	}
}

func TestManyPlansAreStillTheRightOnes(t *testing.T) {
	h := open(t)
	digests := map[string]string{}
	for n := range 100 {
		id := "many-" + strconv.Itoa(n)
		digests[id] = h.register("acme", id, step("s"+strconv.Itoa(n), "look")).PlanDigest
		h.plan("acme", id, digests[id])
	}
	for id, digest := range digests {
		if p := h.plan("acme", id, digest); p.ID != id || p.PlanDigest != digest {
			t.Errorf("%s is %s", id, p.ID)
		}
	}
}

func TestCurrentRevisionsAreThoseOfTheMoment(t *testing.T) {
	h := open(t)
	p := h.plans["acme"]
	standings := func() (now plan.CurrentRevisions) {
		h.view(func(tx store.Tx) (err error) {
			now, err = h.repository.CurrentRevisions(tx, "acme", p)
			return err
		})
		return now
	}
	model, project := plan.Subject{Kind: plan.KindModel, ID: "refunds"}, plan.Subject{Kind: plan.KindProject, ID: "shop"}
	if diff := cmp.Diff(plan.CurrentRevisions{model: {Revision: 1}, project: {Revision: 1}}, standings()); diff != "" {
		t.Error(diff)
	}
	h.update(func(tx store.Tx) error {
		if err := records.Models.Delete(tx, "acme", "refunds"); err != nil {
			return err
		}
		_, err := records.Projects.Put(tx, "acme", "shop", &records.ProjectHead{ID: "shop", Revision: 4}, 1)
		return err
	})
	if diff := cmp.Diff(plan.CurrentRevisions{project: {Revision: 4, Disabled: true}}, standings()); diff != "" {
		t.Error(diff)
	}
}
