package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestWhoProbedAndResolvedAStepIsNamed wherever the principal is shown.
func TestWhoProbedAndResolvedAStepIsNamed(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	night, _ := s.token(t, doc{"roles": []string{"APPROVER"}, "name": "night shift"})
	s.shop.On("POST", "/refunds", harness.Answering(500, `{}`))
	s.shop.On("GET", "/refunds/ord-7", harness.Answering(200, `{"status":"refunded"}`))
	id := s.run(t, step("r", "refund", doc{"orderId": "ord-7", "amount": 5}))
	approval := s.approval(t, id).At("id").Text()
	night.Post("/approvals/"+approval+"/decision", approved).OK(t)
	s.reaches(t, id, "RECOVERY_REQUIRED")
	events := s.viewer.Events(t, "/runs/"+id+"/events")
	events.Next(t)
	night.Post("/runs/"+id+"/probe", doc{"stepId": "r"}).OK(t).Is(t, "steps.0.probes.0.byName", "night shift")
	mara := s.person(t, "mara@example.com", "APPROVER")
	mustSay(t, mara.Open("/recovery/"+id), 200, "“night shift”")
	night.Post("/runs/"+id+"/reconcile", reconcile("CONFIRMED_COMPLETED", doc{"status": "succeeded"})).OK(t).Is(t, "steps.0.reconciliation.byName", "night shift")

	seen := events.Rest(t)
	listed := s.viewer.Get("/runs?planId=" + seen[0].Data.At("planId").Text()).OK(t).At("items.0")
	for _, run := range []json{s.viewer.Get("/runs/" + id).OK(t), listed, seen[len(seen)-1].Data} {
		run.Is(t, "steps.0.reconciliation.byName", "night shift").Is(t, "steps.0.probes.0.byName", "night shift")
	}
	mustSay(t, mara.Open("/runs/"+id), 200, "“night shift”Probed “r”", "“night shift”Recorded what became of “r”")
	mustSay(t, mara.Open("/recovery/"+id), 200, "“night shift”")
	shown := s.command(t, 0, "runs", "show", id).Out
	for _, name := range []string{"approval ", "probe 1 ", "reconciled "} {
		at := strings.Index(shown, "\n"+name)
		line, _, _ := strings.Cut(shown[at+1:], "\n")
		prints(t, line, name, "“night shift”")
	}
}

// TestWhoStoppedIsNamed to who reads the names of that tenant.
func TestWhoStoppedIsNamed(t *testing.T) {
	t.Parallel()
	s := ownShell(t)
	admin, _ := s.token(t, doc{"roles": []string{"ADMIN"}, "name": "night shift"})
	admin.Post("/stop", stopping).OK(t).Is(t, "stops.0.byName", "night shift")
	s.viewer.Get("/stop").OK(t).Is(t, "stops.0.byName", "night shift")
	prints(t, s.command(t, 0, "stopped").Out, "“night shift”")
	mustSay(t, s.person(t, "mara@example.com", "VIEWER").Open("/runs"), 200, "LIVE steps are stopped", "“night shift”")
}
