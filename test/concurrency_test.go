package test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// together makes n concurrent requests and counts the results.
func together(n int, request func(i int) string) map[string]int {
	var (
		mu    sync.Mutex
		group sync.WaitGroup
		gate  = make(chan struct{})
		count = map[string]int{}
	)
	for i := range n {
		group.Go(func() {
			<-gate
			result := request(i)
			mu.Lock()
			defer mu.Unlock()
			count[result]++
		})
	}
	close(gate)
	group.Wait()
	return count
}

// result is an answer's success or code.
func result(a *harness.Answer) string {
	if a.Status >= 400 {
		return a.At("error").Text()
	}
	return "done"
}

func TestSixtyFourStartsWithOneKeyMakeOneRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plan := w.ready(t, planOf(step("n", "note", nil)))
	ids := together(64, func(int) string {
		a := w.operator.Post("/runs", doc{"planId": plan}, keyed("k"))
		if a.Status != 202 {
			return a.String()
		}
		return a.At("id").Text()
	})
	if len(ids) != 1 {
		t.Fatalf("the starts gave %v", ids)
	}
	for id := range ids {
		w.reaches(t, id, "COMPLETED")
	}
	w.viewer.Get("/runs").OK(t).Is(t, "total", 1)
	w.Admin.Get("/audit?action=runs.start").OK(t).Is(t, "total", 1)
}

func TestOfTwentyUpdatesOfOneRevisionOneWins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	models := together(20, func(i int) string {
		m := harness.With(harness.Model("refund"), "description", fmt.Sprint(i))
		return result(w.operator.Put("/models/refund", doc{"document": m, "expectedRevision": 1}))
	})
	projects := together(20, func(i int) string {
		p := harness.With(harness.Project(w.shop.Origin()), "name", fmt.Sprint(i))
		return result(w.tenantAdmin.Put("/projects/"+shop, harness.With(p, "expectedRevision", 1)))
	})
	created := together(20, func(i int) string {
		return result(w.operator.Put("/models/new", doc{"document": harness.With(harness.Model("new"), "description", fmt.Sprint(i))}))
	})
	for _, got := range []map[string]int{models, projects, created} {
		if got["done"] != 1 || got["revision_conflict"] != 19 {
			t.Errorf("the answers were %v", got)
		}
	}
	w.viewer.Get("/models/refund").OK(t).Is(t, "revision", 2)
	w.viewer.Get("/projects/"+shop).OK(t).Is(t, "revision", 2)
}

func TestOfThirtyTwoContraryDecisionsOneCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.run(t, step("r", "refund", doc{"orderId": "o"}))
	approval := w.approval(t, id).At("id").Text()
	got := together(32, func(i int) string {
		decision := []string{"APPROVED", "REJECTED"}[i%2]
		a := w.approver.Post("/approvals/"+approval+"/decision", doc{"decision": decision, "reason": "r"})
		if a.Status == 200 {
			return a.Is(t, "status", decision).At("status").Text()
		}
		return result(a)
	})
	if got["state_conflict"] != 31 || got["APPROVED"]+got["REJECTED"] != 1 {
		t.Fatalf("the answers were %v", got)
	}
	if got["APPROVED"] == 1 {
		w.reaches(t, id, "COMPLETED")
	} else {
		w.reaches(t, id, "FAILED")
	}
	w.viewer.Get("/approvals/"+approval).OK(t).Is(t, "status", map[bool]string{true: "APPROVED", false: "REJECTED"}[got["APPROVED"] == 1])
	if n := len(w.shop.Seen("POST", "/refunds")); n != got["APPROVED"] {
		t.Errorf("%d requests were sent", n)
	}
}

func TestFiftyStartsNeverExceedTheLimit(t *testing.T) {
	t.Parallel()
	w := ownWorld(t) // the limit is four
	gate := make(chan struct{})
	w.shop.On("GET", "/patient", harness.After(gate, harness.Answering(200, `{}`)))
	plan := w.ready(t, planOf(step("p", "patient", nil)))
	got := together(50, func(int) string {
		w.checkActive(t)
		r := result(w.operator.Post("/runs", doc{"planId": plan}, key()))
		w.checkActive(t)
		return r
	})
	if got["done"] != 4 || got["capacity"] != 46 {
		t.Errorf("the answers were %v", got)
	}
	close(gate)
	for _, id := range ids(w.viewer.Get("/runs").OK(t)) {
		w.reaches(t, id, "COMPLETED")
	}
}

// checkActive checks the limit in one consistent page of runs.
func (w *world) checkActive(t *testing.T) {
	active := 0
	for _, run := range w.viewer.Get("/runs").OK(t).At("items").Items() {
		if s := run.At("status").Text(); s == "READY" || s == "RUNNING" {
			active++
		}
	}
	if active > 4 {
		t.Errorf("%d runs are READY or RUNNING", active)
	}
}

func TestManyPostsOfOnePlanIDStoreOnePlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plan := harness.With(planOf(step("n", "note", nil)), "id", "p")
	got := together(20, func(i int) string {
		a := w.operator.Post("/plans", harness.With(plan, "name", []string{"one", "other"}[i%2]))
		if a.Status == 201 {
			return a.At("name").Text() + " " + a.At("createdAt").Text()
		}
		return result(a)
	})
	if len(got) != 2 || got["state_conflict"] != 10 {
		t.Errorf("the answers were %v", got)
	}
	w.viewer.Get("/plans").OK(t).Is(t, "total", 1)
	w.Admin.Get("/audit?subject=plan/p&action=plans.create").OK(t).Has(t, "items", "done")
}

func TestAProjectNeverChangesUnderARunThatStarts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for revision := 1; revision <= 8; revision++ {
		plan := w.ready(t, planOf(step("r", "refund", doc{"orderId": "o"})))
		edit := harness.With(harness.With(harness.Project(w.shop.Origin()), "name", fmt.Sprint("n", revision)), "expectedRevision", revision)
		var run string
		got := together(2, func(i int) string {
			if i == 0 {
				return "put " + result(w.tenantAdmin.Put("/projects/"+shop, edit))
			}
			a := w.operator.Post("/runs", doc{"planId": plan}, key())
			run = a.At("id").Text()
			return "start " + result(a)
		})
		switch {
		case got["put done"] == 1 && (got["start drift"] == 1 || got["start project_disabled"] == 1):
		case got["put project_in_use"] == 1 && got["start done"] == 1:
			w.cancel(t, run)
			w.tenantAdmin.Put("/projects/"+shop, edit).OK(t)
		default:
			t.Fatalf("the answers were %v", got)
		}
		w.enable(t, shop, revision+1)
	}
}

func TestACancelAgainstAnAnswerLeavesOneOutcome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 8 {
		id, gate := w.inFlight(t, "POST", "/notes", step("n", "note", nil), harness.Answering(200, `{"ok":true}`))
		got := together(2, func(i int) string {
			if i == 0 {
				close(gate)
				return "answered"
			}
			return result(w.operator.Post("/runs/"+id+"/cancel", doc{"reason": "r"}))
		})
		run := w.Admin.Get("/runs/" + id).OK(t)
		if got["state_conflict"] == 1 { // the run had ended
			w.reaches(t, id, "COMPLETED")
			continue
		}
		switch status := run.At("status").Text(); status {
		case "RECOVERY_REQUIRED":
			harness.Until(t, "the answer, until which nobody says what became of the call", func() bool {
				return result(w.approver.Post("/runs/"+id+"/reconcile", reconcile("ABANDON", nil))) == "done"
			})
			w.reaches(t, id, "CANCELLED")
		case "CANCELLED":
			run.Is(t, "steps.0.status", "COMPLETED")
		default:
			t.Fatalf("the run is %s: %s", status, run)
		}
	}
}

func TestOfManyReconcilesOneCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.uncertain(t).At("id").Text()
	got := together(16, func(i int) string {
		body := reconcile([]string{"ABANDON", "CONFIRMED_COMPLETED"}[i%2], nil)
		return result(w.approver.Post("/runs/"+id+"/reconcile", body))
	})
	if got["done"] != 1 || got["state_conflict"] != 15 {
		t.Errorf("the answers were %v", got)
	}
}
