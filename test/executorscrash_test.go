package test

import (
	"fmt"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

func TestATeamRunGoesOnAfterACrashWithTheDriftThatThereIsThen(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	reader, writer := w.clerks(t)
	gate := make(chan struct{})
	defer close(gate)
	w.shop.On("POST", "/notes", harness.After(gate, harness.Answering(200, `{}`)))
	w.operator.Put("/teams/t", teamOf([]string{reader, writer},
		teamStep("note", writer, "note", doc{"n": 1}), taking(teamStep("look", reader, "lookup", doc{}), "resourceId", "note", "id"))).OK(t)
	var runs []string
	for i := range 2 {
		runs = append(runs, w.teamRun("t", 1, nil).OK(t).At("id").Text())
		w.shop.Await(t, "POST", "/notes", i+1)
	}
	w.Kill()
	w.Restart()
	for i, id := range runs {
		w.reaches(t, id, "RECOVERY_REQUIRED").Is(t, "teamId", "t").Is(t, "steps.0.agentId", writer).Is(t, "planSnapshot.agents.1.id", writer)
		w.approver.Post("/runs/"+id+"/reconcile", reconcile("CONFIRMED_COMPLETED", doc{"id": "o-1"})).OK(t).Is(t, "steps.0.status", "COMPLETED")
		if i == 0 {
			w.reaches(t, id, "COMPLETED").Is(t, "steps.1.request.url", w.shop.Origin()+"/orders/o-1")
			w.tenantAdmin.Post("/agents/"+writer+"/suspend", doc{"reason": "r"}).OK(t) // its own step is past; it is of the plan all the same
			continue
		}
		harness.Until(t, "the run to see the drift", func() bool {
			return w.viewer.Get("/runs/"+id).OK(t).At("status").Text() == "FAILED"
		})
		w.viewer.Get("/runs/"+id).OK(t).Has(t, "error", "drift: agent "+writer).Is(t, "steps.0.status", "COMPLETED").Is(t, "steps.1.error.code", "drift")
	}
	if n := len(w.shop.Seen("GET", "/orders/o-1")); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestASuspensionAgainstAnApprovalLeavesOneOutcome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 4 {
		name := fmt.Sprint("crew", i)
		c := w.crew(t, name)
		run := w.asks(c.ids[0], agentRun("LIVE", "refund", doc{"orderId": name})).OK(t).At("id").Text()
		approval := w.approval(t, run).At("id").Text()
		sent := len(w.shop.Seen("POST", "/refunds"))
		together(2, func(i int) string {
			if i == 0 {
				return result(w.approver.Post("/approvals/"+approval+"/decision", approved))
			}
			return result(w.tenantAdmin.Post("/agents/"+c.ids[0]+"/suspend", doc{"reason": "r"}))
		})
		harness.Until(t, "the run to end", func() bool {
			return w.viewer.Get("/runs/" + run).OK(t).At("completedAt").Exists()
		})
		sent = len(w.shop.Seen("POST", "/refunds")) - sent
		switch got := w.viewer.Get("/runs/" + run).OK(t); got.At("status").Text() {
		case "COMPLETED":
			got.Is(t, "steps.0.attempt", sent)
		case "FAILED":
			if got.Has(t, "error", "drift: ").Is(t, "steps.0.attempt", 0); sent != 0 {
				t.Errorf("%d requests were sent", sent)
			}
		default:
			t.Error(got)
		}
	}
}
