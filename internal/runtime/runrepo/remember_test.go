package runrepo_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// TestPlansAreRememberedForSoManyBytes: a large one is remembered, and sixty-four large
// ones are not.
func TestPlansAreRememberedForSoManyBytes(t *testing.T) {
	h := open(t)
	var first, last *countersign.Plan
	for n := range 24 {
		s := step("pay", "pay")
		s.Input = map[string]countersign.Value{"note": countersign.String(strings.Repeat("x", 900_000))}
		p := h.register("acme", fmt.Sprintf("large-%d", n), s)
		last = h.plan("acme", p.ID, p.PlanDigest)
		if n == 0 {
			first = last
		}
		if h.plan("acme", p.ID, p.PlanDigest) != last {
			t.Fatalf("plan %d was read twice in a row", n)
		}
	}
	if h.plan("acme", first.ID, first.PlanDigest) == first {
		t.Error("twenty-four plans of a mebibyte are in memory")
	}
}

// TestModelsOfPlansCountAmongTheirBytes: what a plan refers to is remembered with it, and
// within the same bound.
func TestModelsOfPlansCountAmongTheirBytes(t *testing.T) {
	h := open(t)
	reads := 0
	whole := func(p *countersign.Plan) (out *countersign.Plan) {
		h.view(func(tx store.Tx) (err error) {
			out, err = h.repository.WholePlan(tx, "acme", p.ID, p.PlanDigest, func(p countersign.Plan) (countersign.Plan, int, error) {
				reads++
				return p, 1 << 20, nil
			})
			return err
		})
		return out
	}
	var plans []*countersign.Plan
	for n := range 24 {
		p := h.register("acme", fmt.Sprintf("small-%d", n), step("pay", "pay"))
		if first := whole(p); first != whole(p) || reads != n+1 {
			t.Fatalf("plan %d was read twice in a row", n)
		}
		plans = append(plans, p)
	}
	first, last := plans[0], plans[23]
	if h.repository.KnownWholePlan("acme", first.ID, first.PlanDigest) != nil {
		t.Error("twenty-four models of a mebibyte are in memory")
	}
	if h.repository.KnownWholePlan("acme", last.ID, last.PlanDigest) == nil || h.repository.KnownWholePlan("acme", last.ID, "1111") != nil {
		t.Error("the last plan isn't known by its digest")
	}
}

// TestOnlyPlansThatStayAreKnown: one that was made for a single run is deleted with it.
func TestOnlyPlansThatStayAreKnown(t *testing.T) {
	h := open(t)
	p := h.plans["acme"]
	if h.repository.KnownPlan("acme", p.ID) != nil {
		t.Error("a plan is known that nobody has read")
	}
	h.plan("acme", p.ID, p.PlanDigest)
	if known := h.repository.KnownPlan("acme", p.ID); known == nil || known.PlanDigest != p.PlanDigest || h.repository.KnownPlan("beta", p.ID) != nil {
		t.Errorf("known is %v", known)
	}
	single := *p
	single.ID = "plan-of-one-run"
	h.update(func(tx store.Tx) error {
		_, err := records.Plans.Put(tx, "acme", single.ID, &records.Plan{Plan: single, Synthetic: true}, 0)
		return err
	})
	h.plan("acme", single.ID, single.PlanDigest)
	if h.repository.KnownPlan("acme", single.ID) != nil {
		t.Error("the plan of a single run is known")
	}
}
